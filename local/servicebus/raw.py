"""AMQP 1.0 values in their encoded form: finding, reading and writing them in raw bytes.

Messages are kept and passed on as the bytes that came in; only the sections in front of the body
are looked into. So a body, and every property, leaves exactly as it arrived, whatever its types.
"""

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from proton import Data

from local.servicebus.filters import Value

HEADER = 0x70
DELIVERY_ANNOTATIONS = 0x71
MESSAGE_ANNOTATIONS = 0x72
PROPERTIES = 0x73
APPLICATION_PROPERTIES = 0x74
DATA = 0x75
FOOTER = 0x78
"""Descriptor codes of the sections of a message, in the order in which they must come."""

NULL = b"\x40"

_FIXED_WIDTHS = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}
_SIZE_WIDTHS = {0xA: 1, 0xB: 4, 0xC: 1, 0xD: 4, 0xE: 1, 0xF: 4}
_LISTS = {0x45: 0, 0xC0: 1, 0xD0: 4}
_MAPS = {0xC1: 1, 0xD1: 4}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DecodeError(ValueError):
    """The bytes are not what AMQP 1.0 allows at this place."""


def payload(buffer: bytes, at: int) -> tuple[int, int]:
    """Where the content of the (not described) value at `at` starts and ends."""
    if at >= len(buffer):
        raise DecodeError("a value is missing")
    kind = buffer[at] >> 4
    if kind in _FIXED_WIDTHS:
        start = at + 1
        end = start + _FIXED_WIDTHS[kind]
    elif kind in _SIZE_WIDTHS:
        start = at + 1 + _SIZE_WIDTHS[kind]
        end = start + int.from_bytes(buffer[at + 1 : start])
    else:
        raise DecodeError(f"0x{buffer[at]:02x} is not a type that a value can start with")
    if end > len(buffer):
        raise DecodeError("a value is cut off")
    return start, end


def end_of(buffer: bytes, at: int) -> int:
    """The position after the value at `at`, described or not."""
    while buffer[at : at + 1] == b"\x00":
        at = payload(buffer, at + 1)[1]
    return payload(buffer, at)[1]


def sections(buffer: bytes) -> list[tuple[int, int, int]]:
    """The sections of an encoded message as (code, start, end), checked for order."""
    found: list[tuple[int, int, int]] = []
    at = 0
    while at < len(buffer):
        code, _ = described(buffer, at)
        end = end_of(buffer, at)
        found.append((code, at, end))
        at = end
    codes = [code for code, _, _ in found]
    if any(not HEADER <= code <= FOOTER for code in codes):
        raise DecodeError("there is a section that a message cannot have")
    if any(later < code or later == code < DATA for code, later in pairwise(codes)):
        raise DecodeError("the sections of the message are not in order")
    return found


def described(buffer: bytes, at: int) -> tuple[int, int]:
    """The numeric descriptor of the value at `at`, and where the value itself starts."""
    if buffer[at : at + 2] not in (b"\x00\x53", b"\x00\x80"):
        raise DecodeError("a section does not start with its descriptor")
    start, end = payload(buffer, at + 1)
    return int.from_bytes(buffer[start:end]), end


def list_items(buffer: bytes, at: int) -> list[bytes]:
    """The encoded items of the list at `at`."""
    return _items(buffer, at, _LISTS)


def map_items(buffer: bytes, at: int) -> list[tuple[bytes, bytes]]:
    """The encoded (key, value) pairs of the map at `at`."""
    flat = _items(buffer, at, _MAPS)
    if len(flat) % 2:
        raise DecodeError("a map has a key without a value")
    return list(zip(flat[::2], flat[1::2], strict=True))


def _items(buffer: bytes, at: int, kinds: dict[int, int]) -> list[bytes]:
    start, end = payload(buffer, at)
    width = kinds.get(buffer[at])
    if width is None:
        raise DecodeError(f"0x{buffer[at]:02x} is not the list or map that must be here")
    at = start + width
    items = []
    while at < end:
        item_end = end_of(buffer, at)
        items.append(buffer[at:item_end])
        at = item_end
    if at != end or len(items) != int.from_bytes(buffer[start : start + width]):
        raise DecodeError("a list or map does not hold what it announces")
    return items


def decode(item: bytes) -> Value:
    """The value of one encoded simple type; None for null and for what filters cannot use."""
    decoder = _DECODERS.get(item[0])
    if decoder is None:
        return None
    start, end = payload(item, 0)
    return decoder(item[start:end])


def _signed(content: bytes) -> int:
    return int.from_bytes(content, signed=True)


def _timestamp(content: bytes) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=_signed(content))
    except OverflowError:
        return None


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")


_DECODERS: dict[int, Callable[[bytes], Value]] = {
    **dict.fromkeys((0x43, 0x44, 0x50, 0x52, 0x53, 0x60, 0x70, 0x80), int.from_bytes),
    **dict.fromkeys((0x51, 0x54, 0x55, 0x61, 0x71, 0x81), _signed),
    **dict.fromkeys((0xA1, 0xB1, 0xA3, 0xB3), _text),
    **dict.fromkeys((0xA0, 0xB0), bytes),
    0x41: lambda content: True,
    0x42: lambda content: False,
    0x56: lambda content: content == b"\x01",
    0x72: lambda content: float(struct.unpack(">f", content)[0]),
    0x82: lambda content: float(struct.unpack(">d", content)[0]),
    0x73: lambda content: content.decode("utf-32-be", errors="replace"),
    0x83: _timestamp,
    0x98: lambda content: UUID(bytes=content),
}


def encode(value: object) -> bytes:
    """Encode any value that Proton knows, with Proton's own encoder."""
    data = Data()
    data.put_object(value)
    return bytes(data.encode())


def symbol(text: str) -> bytes:
    return b"\xa3" + bytes([len(text)]) + text.encode("ascii")


def string(text: str) -> bytes:
    content = text.encode()
    return b"\xb1" + len(content).to_bytes(4) + content


def integer(value: int) -> bytes:
    """An AMQP int (32 bit)."""
    return b"\x71" + value.to_bytes(4, signed=True)


def unsigned(value: int) -> bytes:
    """An AMQP uint (32 bit)."""
    return b"\x70" + value.to_bytes(4)


def long(value: int) -> bytes:
    return b"\x81" + value.to_bytes(8, signed=True)


def timestamp(milliseconds: int) -> bytes:
    return b"\x83" + milliseconds.to_bytes(8, signed=True)


def list_section(code: int, items: list[bytes]) -> bytes:
    """A whole section whose value is a list."""
    return _section(code, b"\xd0", items)


def map_section(code: int, pairs: list[tuple[bytes, bytes]]) -> bytes:
    """A whole section whose value is a map."""
    return _section(code, b"\xd1", [item for pair in pairs for item in pair])


def _section(code: int, constructor: bytes, items: list[bytes]) -> bytes:
    content = len(items).to_bytes(4) + b"".join(items)
    return bytes([0x00, 0x53, code]) + constructor + len(content).to_bytes(4) + content
