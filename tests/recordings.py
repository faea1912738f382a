"""Replays of what the real host did: one test for each recorded case.

`differences.json` is the one list of cases in which ours differs, recording by recording, each with
its reason. A listed case that comes out alike after all is red, as is one that no recording has.
How many cases are alike is printed at the end of a run (`tests/conftest.py`).
"""

import json
from collections.abc import Collection, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

type Parameter = Any
"""What `pytest.param` makes; its class is not public."""

DIFFERENCES: Mapping[str, Mapping[str, str]] = json.loads(
    Path(__file__).with_name("differences.json").read_text()
)
MARK = "recorded"
SOMETIMES = "not always: "
"""Begins the reason of a case that is a race: it may come out alike."""


def replayed[T](recording: str, cases: Mapping[str, T]) -> list[Parameter]:
    """The cases of one recording as parameters; those listed as different are to fail.

    Raises ValueError when a listed case is not among them.
    """
    listed = DIFFERENCES.get(recording, {})
    if strange := listed.keys() - cases.keys():
        raise ValueError(f"differences.json lists cases that {recording} lacks: {sorted(strange)}")
    return [
        pytest.param(case, id=name, marks=list(_marks(recording, listed.get(name))))
        for name, case in cases.items()
    ]


def _marks(recording: str, reason: str | None) -> Iterator[pytest.MarkDecorator]:
    yield pytest.mark.recorded(recording)
    if reason:
        always = not reason.startswith(SOMETIMES)
        yield pytest.mark.xfail(reason=reason, raises=AssertionError, strict=always)


def summary(outcomes: Mapping[str, Collection[str]]) -> Iterator[str]:
    """A line for each recording; `outcomes` are those of its cases, `passed` for the alike ones."""
    for recording, seen in sorted(outcomes.items()):
        alike = sum(outcome == "passed" for outcome in seen)
        yield f"{recording}: {alike} of {len(seen)} alike"


ANY = "<any>"
"""Stands in a recording for what differs from run to run: ids, times, paths."""
CUT = "<cut>"
"""Ends a text of which only the beginning is compared: stack traces and such follow."""


def blurred(ours: Any, recorded: Any) -> Any:
    """Ours, with `<any>` and `<cut>` where the recording has them, so that both can be compared."""
    if recorded == ANY:
        return ANY
    if isinstance(recorded, str) and recorded.endswith(CUT):
        beginning = recorded.removesuffix(CUT)
        return recorded if isinstance(ours, str) and ours.startswith(beginning) else ours
    if isinstance(ours, dict) and isinstance(recorded, dict):
        return {name: blurred(value, recorded.get(name)) for name, value in ours.items()}
    if isinstance(ours, list) and isinstance(recorded, list):
        pairs = zip_longest(ours, recorded[: len(ours)])
        return [blurred(value, other) for value, other in pairs]
    return ours
