"""Paths and queries as the real host decodes and shows them; every rule is from its recordings."""

import re
from urllib.parse import quote

ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
ESCAPES_BUT_SLASH = re.compile(r"(?:%(?!2[Ff])[0-9A-Fa-f]{2})+")
KEPT_IN_PATHS = "!$&'()*+,;=:@/~"


class BadPath(Exception):
    """A path that is answered 400."""


def decode_path(raw: str) -> str:
    """Decode escapes once, except `%2F` and bytes that are no UTF-8; then remove dot segments.

    Raises BadPath for an escaped NUL or a raw character outside ASCII.
    """
    if not raw.isascii() or "%00" in raw:
        raise BadPath(raw)
    return _without_dot_segments(ESCAPES_BUT_SLASH.sub(_decode_run, raw))


def encode_path(path: str) -> str:
    """The path as a function sees it in its URL: text that looks like an escape stays one."""
    parts = re.split(r"(%[0-9A-Fa-f]{2})", path)
    return "".join(
        part if place % 2 else quote(part, safe=KEPT_IN_PATHS) for place, part in enumerate(parts)
    )


def parse_query(raw: str) -> dict[str, str]:
    """Names ignore case (the last spelling stays), repeats join with commas, empty values go.

    Raises BadPath for a raw character outside ASCII.
    """
    if not raw.isascii():
        raise BadPath(raw)
    joined: dict[str, tuple[str, str]] = {}
    for pair in raw.split("&"):
        name, _, value = (_decode_query(text) for text in pair.partition("="))
        if value:
            _, before = joined.get(name.lower(), ("", ""))
            joined[name.lower()] = (name, f"{before},{value}" if before else value)
    return dict(joined.values())


def _decode_query(text: str) -> str:
    return ESCAPES.sub(_decode_run, text.replace("+", " "))


def _decode_run(run: re.Match[str]) -> str:
    """Decode `%41%C3%A9`; bytes that are no UTF-8 stay as they were written."""
    escapes = re.findall("...", run[0])
    values = bytes.fromhex(run[0].replace("%", ""))
    text = ""
    place = 0
    while place < len(values):
        size, character = _character_at(values, place)
        text += character or escapes[place]
        place += size
    return text


def _character_at(values: bytes, place: int) -> tuple[int, str]:
    """Bytes used and the character; one byte and no text when none begins here."""
    for size in range(1, 5):
        try:
            return size, values[place : place + size].decode()
        except UnicodeDecodeError:
            continue
    return 1, ""


def _without_dot_segments(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for place, segment in enumerate(segments):
        last = place == len(segments) - 1
        if segment == "..":
            kept = kept[:-1] if len(kept) > 1 else kept
        elif segment != ".":
            kept.append(segment)
            continue
        if last:
            kept.append("")
    return "/".join(kept)
