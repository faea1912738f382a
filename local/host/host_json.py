"""`host.json`: read as the host and the worker read it, and its values by path."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from local.host.errors import HostError

OVERRIDE_PREFIX = "AzureFunctionsJobHost__"
"""Settings so named override a value: `__` stands for a step down."""


def read_document(path: Path) -> tuple[dict[str, Any], bool]:
    """The JSON object, and whether a strict reader accepts it (the worker has one)."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise HostError(f"There is no {path.name} in {path.parent}.") from None
    try:
        return _json_object(text), True
    except ValueError as error:
        try:
            return _json_object(_without_comments(text)), False
        except ValueError:
            raise HostError(
                f"Unable to parse host configuration file '{path.name}': {error}."
            ) from None


class Values:
    """`host.json` as one flat table, as .NET's configuration keeps it: keys ignore case."""

    def __init__(self, document: Mapping[str, Any], settings: Mapping[str, str]) -> None:
        self._values = {path.lower(): (path, value) for path, value in _flatten(document)}
        for name, value in settings.items():
            if name.startswith(OVERRIDE_PREFIX):
                path = name.removeprefix(OVERRIDE_PREFIX).replace("__", ":")
                self._values[path.lower()] = path, value

    def text(self, path: str, default: str) -> str:
        _, value = self._values.get(path.lower(), (path, None))
        return default if value is None else str(value)

    def integer(self, path: str, default: int) -> int:
        text = self.text(path, str(default))
        if not re.fullmatch(r"-?\d+", text):
            raise conversion_error(path, text, "a whole number")
        return int(text)

    def boolean(self, path: str, default: bool) -> bool:
        text = self.text(path, str(default)).lower()
        if text not in ("true", "false"):
            raise conversion_error(path, text, "true or false")
        return text == "true"

    def timespan(self, path: str, default: str) -> timedelta:
        text = self.text(path, default)
        value = parse_timespan(text)
        if value is None:
            raise conversion_error(path, text, "a time span like 00:05:00")
        return value

    def group(self, path: str) -> dict[str, str]:
        """The members below a path, with their names as they are written."""
        start = f"{path.lower()}:"
        found = self._values.items()
        return {own[len(start) :]: str(v) for key, (own, v) in found if key.startswith(start)}


def parse_timespan(text: str) -> timedelta | None:
    """`[days.]hh:mm:ss[.fraction]`; None when the text is something else."""
    match = re.fullmatch(r"(?:(\d+)\.)?(\d\d?):(\d\d):(\d\d(?:\.\d+)?)", text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = match.groups("0")
    return timedelta(days=int(days), hours=int(hours), minutes=int(minutes), seconds=float(seconds))


def conversion_error(path: str, text: str, wanted: str) -> HostError:
    """What is said of a value that is none of its kind."""
    return HostError(
        f"Failed to convert configuration value at 'AzureFunctionsJobHost:{path}':"
        f" '{text}' is not {wanted}."
    )


def _flatten(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}:")
        else:
            yield f"{prefix}{key}", value


def _json_object(text: str) -> dict[str, Any]:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document


def _without_comments(text: str) -> str:
    """Drop what the host forgives: comments, and commas before a closing bracket."""
    string = r'("(?:[^"\\]|\\.)*")'
    bare = re.sub(string + r"|//[^\n]*|/\*.*?\*/", r"\1", text, flags=re.DOTALL)
    return re.sub(string + r"|,(?=\s*[}\]])", r"\1", bare)
