"""Whether an answer is the one that a page shows, but for ids, times and what is left out."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
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
    "passes",
    "sequenceNumber",
}
"""Fields whose values depend on what else has happened."""


class MisfitError(AssertionError):
    """An answer is not the one that is shown. The text says where and how."""


def fit(shown: str, answer: str) -> dict[str, str]:
    """The ids in the part of an answer that a page shows. Raises MisfitError.

    Of JSON, every field that is shown must be there and alike; of a list, what is shown must be
    there in this order. Of text, every line that is shown must be there in this order. An id is
    known by its name, the first one of each: `jobId` as `JOB_ID`.
    """
    if not shown.lstrip().startswith(("{", "[")):
        _fit_lines(shown, answer)
        return {}
    try:
        document = json.loads(answer)
    except ValueError:
        raise MisfitError("the answer is not JSON") from None
    found: dict[str, str] = {}
    _collect(_fit(json.loads(shown), document, "the answer"), found)
    return found


def ids(answers: str) -> dict[str, str]:
    """The ids in one JSON object after another, the latest of each name; none in other text."""
    decoder, found = json.JSONDecoder(), dict[str, str]()
    while answers := answers.lstrip():
        try:
            document, end = decoder.raw_decode(answers)
        except ValueError:
            break
        _collect(document, latest := dict[str, str]())
        found |= latest
        answers = answers[end:]
    return found


def _fit_lines(shown: str, answer: str) -> None:
    lines = iter(_blur(answer).splitlines())
    for line in _blur(shown).splitlines():
        if line not in lines:
            raise MisfitError(f"{line!r} is missing")


def _fit(shown: Any, answer: Any, place: str) -> Any:
    """The answer with no more in its lists than is shown."""
    if isinstance(shown, dict) and isinstance(answer, dict):
        fitting = {name: _fit_field(name, value, answer, place) for name, value in shown.items()}
        return {**answer, **fitting}
    if isinstance(shown, list) and isinstance(answer, list):
        rest = iter(answer)
        return [_fit_element(value, rest, place) for value in shown]
    if _blurred(shown) != _blurred(answer):
        raise MisfitError(f"{place} is {_blurred(answer)!r}, not {_blurred(shown)!r}")
    return answer


def _fit_field(name: str, shown: Any, answer: dict[str, Any], place: str) -> Any:
    if name not in answer:
        raise MisfitError(f"{place}.{name} is missing")
    if name in _BY_CHANCE and type(shown) is type(answer[name]):
        return answer[name]
    return _fit(shown, answer[name], f"{place}.{name}")


def _fit_element(shown: Any, rest: Iterator[Any], place: str) -> Any:
    for each in rest:
        with suppress(MisfitError):
            return _fit(shown, each, place)
    raise MisfitError(f"{place} has no {json.dumps(shown)} at its place")


def _blurred(value: Any) -> Any:
    return _blur(value) if isinstance(value, str) else value


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
            elif re.search(r"[a-z](Id|Number|Hash|Cursor|Url|Token)$", name):
                found.setdefault(re.sub(r"(?=[A-Z])", "_", name).upper(), str(each))
