"""Recorded orchestrations replay to the decisions that were taken then."""

import json
from pathlib import Path

import pytest

from tests.unit.functions.orchestration import handle
from tests.unit.functions.record_history import HISTORIES

RECORDED = sorted(HISTORIES.glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_orchestration_decides_the_same_again(path: Path) -> None:
    calls = json.loads(path.read_text())
    assert calls
    for call in calls:
        assert json.loads(handle(json.dumps(call["given"]))) == call["answered"]


def test_every_way_through_the_orchestration_is_recorded() -> None:
    ends = {json.loads(path.read_text())[-1]["answered"].get("output") for path in RECORDED}
    assert ends >= {"Succeeded", "Failed"}
    assert len(RECORDED) >= 4
