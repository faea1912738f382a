"""What is said before anything starts, and what can be done once it runs."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from local.demo.next_steps import next_steps, registration_call, requests_call, restart_call
from local.demo.prerequisites import MissingError, check_prerequisites
from local.settings import LocalSettings

SETTINGS = LocalSettings(Path("/data/my stack"), 7071, 5672, 10000, 7081, 7082)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("none.pdf", "No such file or directory"), (".", "Is a directory")],
)
@pytest.mark.parametrize("module", ["local.demo", "local.demo.submit"])
def test_a_file_that_cannot_be_read_is_named_before_anything_starts(
    tmp_path: Path, module: str, name: str, reason: str
) -> None:
    data, path = tmp_path / "data", tmp_path / name

    result = _run(module, FILE=str(path), LOCAL_DATA=str(data))

    make = "make submit" if module.endswith("submit") else "make run"
    assert result.returncode == 1
    assert result.stderr == f"{make}: {path} cannot be read: {reason}\n"
    assert not data.exists()


def test_submitting_without_a_stack_names_the_way_to_one(tmp_path: Path) -> None:
    document = tmp_path / "a file with 'quotes' and $signs.txt"
    document.write_text("Invoice no. 17")

    result = _run("local.demo.submit", FILE=str(document), LOCAL_DATA=str(tmp_path))

    assert result.returncode == 1
    assert result.stderr == (
        f"make submit: no stack runs on {tmp_path}: start one with `make run`\n"
    )


def test_a_port_that_is_none_is_named_with_its_variable(tmp_path: Path) -> None:
    result = _run("local.demo", LOCAL_DATA=str(tmp_path), LOCAL_BLOB_PORT="ten")

    assert result.returncode == 1
    assert result.stderr == (
        "make run: LOCAL_BLOB_PORT must be a port number from 1 to 65535, not 'ten'\n"
    )


def test_a_missing_node_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(MissingError, match=r"^Node 20 or newer is missing: get it from https"):
        check_prerequisites()


def test_the_next_steps_name_every_address_and_the_data_folder_that_is_not_the_default() -> None:
    lines = list(next_steps(SETTINGS, {"host": "http://127.0.0.1:7071"}))

    assert "  Look at the jobs    make LOCAL_DATA='/data/my stack' jobs" in lines
    assert "  host        http://127.0.0.1:7071" in lines


def test_the_command_to_paste_makes_a_token_when_it_is_run() -> None:
    command = registration_call(SETTINGS)

    assert "-m local.identity.token --data '/data/my stack' --role REGISTRATION_READ" in command
    assert shlex.split(command)[-1] == "http://127.0.0.1:7071/registration/demo-client/extractors"


def test_the_commands_of_an_operator_restart_and_tell_what_became_of_it() -> None:
    rights = "--data '/data/my stack' --scope EXTRACTED_ENTITIES_WRITE --role User"
    restart, requests = restart_call(SETTINGS), requests_call(SETTINGS)

    assert rights in restart
    assert rights in requests
    assert shlex.split(restart)[-5:] == [
        "http://127.0.0.1:7071/v1/extracted_entities/restart",
        "-H",
        "Content-Type: application/json",
        "-d",
        '{"extractedEntityIds": [1]}',
    ]
    assert shlex.split(requests)[-1] == "http://127.0.0.1:7071/v1/requests"


def _run(module: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
