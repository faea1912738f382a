"""The services around ours, played by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from local.demo.around import main
from local.supervisor.lock import hold
from tests.unit.local.demo.conftest import Laptop


def test_without_a_stack_the_way_to_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCAL_DATA", str(tmp_path))

    assert main(["file"]) == 1

    assert capsys.readouterr().err == (
        f"local.demo.around: no stack runs on {tmp_path}: start one with `make run`\n"
    )


def test_a_client_keeps_its_registration_and_another_gets_the_next_one(
    laptop: Laptop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCAL_DATA", str(laptop.settings.data))

    def register(*options: str) -> dict[str, Any]:
        assert main(["extractor", *options]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    with hold(laptop.settings):
        first = register("--client", "acme", "--behaviour", "silent")
        other = register("--client", "other", "--url", "http://127.0.0.1:8080/extract")
        again = register("--client", "acme")

    assert first["extractorId"] == again["extractorId"] != other["extractorId"]
    assert first["extractionUrl"].endswith("/extract?behaviour=silent")
    assert other["extractionUrl"] == "http://127.0.0.1:8080/extract"
    assert again["extractionUrl"].endswith("/extract")
