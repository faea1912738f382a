"""The issuer's commands: started, ended, and asked for a token by hand."""

import signal
from pathlib import Path

import pytest

from local.identity import keys, token
from local.identity.clients import clients_path, read_clients
from tests.contract.identity.conftest import RunningIssuer
from tests.contract.parts import running_part


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals):
    with running_part("local.identity", "--port", 0, "--data", tmp_path) as part:
        part.process.send_signal(number)

        assert part.process.wait(timeout=5) == 0


def test_a_restart_keeps_the_keys(tmp_path: Path):
    with running_part("local.identity", "--port", 0, "--data", tmp_path):
        before = keys.published_keys(tmp_path)
    with running_part("local.identity", "--port", 0, "--data", tmp_path):
        assert keys.published_keys(tmp_path) == before


def test_default_clients_are_written_once(tmp_path: Path):
    with running_part("local.identity", "--port", 0, "--data", tmp_path, "--clients"):
        first = read_clients(clients_path(tmp_path))
    with running_part("local.identity", "--port", 0, "--data", tmp_path, "--clients"):
        assert read_clients(clients_path(tmp_path)) == first

    assert first["extractor-service"].roles == ("REGISTRATION_READ",)


def test_keys_are_listed_rotated_and_withdrawn_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def run(*arguments: str) -> list[str]:
        keys.main(["--data", str(tmp_path), *arguments])
        return capsys.readouterr().out.split()

    [first] = run("list")
    [second] = run("rotate")
    assert run("list") == [first, second]

    assert run("withdraw", first) == [second]
    with pytest.raises(SystemExit):
        run("withdraw", second)
    assert "rotate first" in capsys.readouterr().err


def test_a_token_with_a_scope_is_a_persons(
    issuer: RunningIssuer, capsys: pytest.CaptureFixture[str]
):
    what = "--scope READ --scope WRITE --role Administrator --audience api://demo"
    who = "--user ada@example.com --minutes 5"

    token.main(["--data", str(issuer.data), *what.split(), *who.split()])

    claims = issuer.verify(capsys.readouterr().out.strip(), audience="api://demo")
    assert claims["scp"] == "READ WRITE"
    assert claims["roles"] == ["Administrator"]
    assert (claims["email"], claims["preferred_username"]) == ("ada@example.com",) * 2
    assert claims["exp"] - claims["iat"] == 300


def test_a_token_without_a_scope_is_an_applications(
    issuer: RunningIssuer, capsys: pytest.CaptureFixture[str]
):
    token.main(["--data", str(issuer.data), "--role", "READ", "--audience", "api://demo"])

    claims = issuer.verify(capsys.readouterr().out.strip(), audience="api://demo")
    assert claims["roles"] == ["READ"]
    assert "scp" not in claims
    assert "email" not in claims


def test_a_token_needs_an_issuer_that_was_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        token.main(["--data", str(tmp_path)])

    assert "no issuer has been started" in capsys.readouterr().err
