"""Whether an answer is the one that a page shows, but for ids, times and what is left out."""

import json
import re
from typing import Any

_BLURRED = [
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<hash>"),
    (re.compile(r"\b127\.0\.0\.1:\d+\b"), "<host>"),
    (re.compile(r" *\b\d+\.\d\d s\b"), " <seconds>"),
]
_BY_CHANCE = {
    "count",
    "durationMs",
    "extractedEntityId",
    "extractedEntityIds",
    "extractorId",
    "milliseconds",
    "nextCursor",
    "sequenceNumber",
}
"""Fields whose values depend on what else has happened."""


def misfit(expected: str, actual: str) -> str | None:
    """Why an answer is not the expected one; None when it is.

    Of JSON, every field that is shown must be there and alike; of a list, what is shown must be
    there in this order. Of text, every line that is shown must be there in this order.
    """
    if expected.lstrip().startswith(("{", "[")):
        try:
            return _misfit(json.loads(expected), json.loads(actual), "the answer")
        except ValueError:
            return "the answer is not JSON"
    lines = iter(_blur(actual).splitlines())
    missing = [line for line in _blur(expected).splitlines() if line not in lines]
    return f"{missing[0]!r} is missing" if missing else None


def ids(actual: str) -> dict[str, str]:
    """The ids and numbers of a JSON answer as variables: `JOB_ID` is its first `jobId`."""
    try:
        found: dict[str, str] = {}
        _collect(json.loads(actual), found)
    except ValueError:
        return {}
    return found


def _misfit(expected: Any, actual: Any, place: str) -> str | None:
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _first(
            f"{place}.{name} is missing"
            if name not in actual
            else _misfit_of_field(name, value, actual[name], place)
            for name, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        rest = iter(actual)
        return _first(
            None
            if any(_misfit(value, found, place) is None for found in rest)
            else f"{place} has no {json.dumps(value)} at its place"
            for value in expected
        )
    if isinstance(expected, str) and isinstance(actual, str):
        expected, actual = _blur(expected), _blur(actual)
    return None if expected == actual else f"{place} is {actual!r}, not {expected!r}"


def _misfit_of_field(name: str, expected: Any, actual: Any, place: str) -> str | None:
    if name in _BY_CHANCE and type(expected) is type(actual):
        return None
    return _misfit(expected, actual, f"{place}.{name}")


def _first(faults: Any) -> str | None:
    return next((fault for fault in faults if fault), None)


def _blur(text: str) -> str:
    for pattern, mark in _BLURRED:
        text = pattern.sub(mark, text)
    return text


def _collect(value: Any, found: dict[str, str]) -> None:
    if isinstance(value, list):
        for each in value:
            _collect(each, found)
    elif isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, dict | list):
                _collect(each, found)
            elif re.search(r"(Id|Number|Hash|Cursor)$", name):
                found.setdefault(re.sub(r"(?=[A-Z])", "_", name).upper(), str(each))
