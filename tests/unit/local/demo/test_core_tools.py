"""What is said to whoever runs the app under the Azure Functions Core Tools."""

import subprocess
import sys
from pathlib import Path

import pytest

from local.demo.core_tools import how_to_start
from local.settings import LocalSettings

SETTINGS = LocalSettings(Path("/data/my stack"), 7075, 5672, 10000, 7081, 7082)


def test_the_settings_are_to_be_copied_and_the_port_to_be_given(tmp_path: Path) -> None:
    lines = list(how_to_start(SETTINGS, tmp_path))

    assert "  cp '/data/my stack/local.settings.json' local.settings.json" in lines
    assert lines[-1] == "  func start --port 7075"


def test_settings_that_are_there_are_left_alone_and_named(tmp_path: Path) -> None:
    own = tmp_path / "local.settings.json"
    own.write_text("{}")

    lines = list(how_to_start(SETTINGS, tmp_path))

    assert (
        "  local.settings.json is there already and has been left alone; compare it with" in lines
    )
    assert not any("cp " in line for line in lines)
    assert own.read_text() == "{}"


def test_tools_that_are_missing_are_named_with_the_way_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    lines = list(how_to_start(SETTINGS, tmp_path))

    assert any("Core Tools are not on the path: https://" in line for line in lines)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--host", "nonsense"], "invalid choice: 'nonsense'"),
        (["--host", "func", "--once"], "--once shows a job"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: list[str], reason: str) -> None:
    command = [sys.executable, "-m", "local.demo", *options]

    result = subprocess.run(command, capture_output=True, text=True)

    assert result.returncode == 2
    assert reason in result.stderr
