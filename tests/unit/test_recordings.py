"""The replays of recordings: what counts as alike, and what becomes of the listed differences."""

from pathlib import Path
from typing import Any

import pytest

from tests import recordings
from tests.recordings import DIFFERENCES, blurred, replayed, summary

TESTS = Path(__file__).parents[1]


def test_a_listed_case_is_to_fail_by_an_assertion_and_is_red_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recordings, "DIFFERENCES", {"calls": {"odd": "a reason"}})

    same, odd = replayed("calls", {"same": 1, "odd": 2})

    assert [mark.name for mark in same.marks] == ["recorded"]
    assert [mark.name for mark in odd.marks] == ["recorded", "xfail"]
    assert odd.marks[1].kwargs == {"reason": "a reason", "raises": AssertionError, "strict": True}


def test_a_listed_case_that_is_not_recorded_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "DIFFERENCES", {"calls": {"gone": "a reason"}})
    with pytest.raises(ValueError, match=r"cases that calls lacks: \['gone'\]"):
        replayed("calls", {"same": 1})


@pytest.mark.parametrize("recording", DIFFERENCES)
def test_every_recording_in_the_list_is_replayed(recording: str) -> None:
    replays = [path.read_text() for path in TESTS.rglob("test_recorded_*.py")]
    assert any(f'replayed("{recording}"' in text for text in replays)


@pytest.mark.parametrize(
    ("ours", "recorded", "alike"),
    [
        ({"id": 7, "n": 1}, {"id": "<any>", "n": 1}, True),
        ({"n": 1}, {"id": "<any>", "n": 1}, False),
        ({"id": 7, "n": 1}, {"n": 1}, False),
        ([1, 2], ["<any>", 2], True),
        ([1, 2, 3], ["<any>", 2], False),
        ("failed: at line 7", "failed: <cut>", True),
        ("ended: at line 7", "failed: <cut>", False),
        (None, "failed: <cut>", False),
        ("<any>", "text", False),
    ],
)
def test_ours_is_compared_but_for_what_the_recording_leaves_open(
    ours: Any, recorded: Any, alike: bool
) -> None:
    assert (blurred(ours, recorded) == recorded) is alike


def test_the_summary_counts_what_passed() -> None:
    seen = {"calls": ["passed", "xfailed", "passed"], "runs": ["failed", "passed"]}
    assert list(summary(seen)) == ["calls: 2 of 3 alike", "runs: 1 of 2 alike"]
