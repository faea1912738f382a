"""`make run` and `make submit` as a person uses them, through their programs."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.settings import DEFAULT_PORTS, LocalSettings
from local.supervisor.lock import find_running
from local.supervisor.ports import with_free_ports
from tests.integration.conftest import WholeStack


def test_a_run_for_one_document_ends_with_its_job(tmp_path: Path) -> None:
    document = tmp_path / "a note of mine.txt"
    document.write_text("Invoice no. INV-2026-0017 of 2026-03-01, please pay to me@example.com")
    environment = _environment(with_free_ports(tmp_path / "data")) | {"FILE": str(document)}

    result = _run("local.demo", "--once", environment=environment)

    assert (result.returncode, result.stderr) == (0, "")
    assert "Submitting a note of mine.txt, 69 bytes" in result.stdout
    statuses = [line.split()[1] for line in result.stdout.splitlines() if line.endswith(" s")]
    assert [word for word in statuses if word.istitle()] == ["Queued", "Started", "Succeeded"]
    assert "    emails            1" in result.stdout
    assert find_running(tmp_path / "data") is None


def test_a_run_stays_up_beside_no_other_until_it_is_interrupted(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path / "data")
    environment = _environment(settings)

    with _running(environment) as supervisor:
        assert supervisor.stdout is not None
        first = _read_until(supervisor, "Stop   Ctrl-C")
        second = _run("local.demo", environment=environment)
        supervisor.send_signal(signal.SIGINT)
        rest = supervisor.stdout.read()

        assert supervisor.wait(10) == 0
    assert "Succeeded" in first
    assert "The extractor was asked to report a failure." in first
    assert "200   Successfully initiated restart for 1 extraction(s)" in first
    assert "200   succeeded, asked for by operator@example.com" in first
    assert second.returncode == 1
    assert second.stderr == (
        f"make run: a stack is running already: process {supervisor.pid},"
        f" http://127.0.0.1:{settings.host_port}, data in {settings.data}\n"
    )
    assert rest.endswith("Stopping.\n")


def test_submitting_a_document_shows_its_job_to_the_end(stack: WholeStack, tmp_path: Path) -> None:
    document = tmp_path / "statement.txt"
    document.write_text("Balance on 2026-03-01: EUR 12.50")

    result = _submit(stack, document)

    assert (result.returncode, result.stderr) == (0, "")
    assert "Succeeded" in result.stdout


def test_submitting_a_document_that_cannot_be_extracted_says_why_and_fails(
    stack: WholeStack, tmp_path: Path
) -> None:
    document = tmp_path / "empty.pdf"
    document.touch()

    result = _submit(stack, document)

    assert result.returncode == 1
    assert "The job did not succeed: The file is empty" in result.stdout


def _submit(stack: WholeStack, document: Path) -> subprocess.CompletedProcess[str]:
    environment = _environment(stack.stack.settings) | {"FILE": str(document)}
    return _run("local.demo.submit", environment=environment)


def _environment(settings: LocalSettings) -> dict[str, str]:
    ports = {
        name: str(getattr(settings, name.removeprefix("LOCAL_").lower())) for name in DEFAULT_PORTS
    }
    return {**os.environ, **ports, "LOCAL_DATA": str(settings.data)}


def _run(
    module: str, *options: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@contextmanager
def _running(environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "local.demo"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _read_until(process: subprocess.Popen[str], last: str) -> str:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(last):
            return "".join(lines)
    raise AssertionError("".join(lines))
