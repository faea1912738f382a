"""AMQP frames as the recordings write them: JSON with types, `{"frame": "flow", "ch": 0, …}`.

A value is `7:uint`, `sym:name`, `uuid:…`, `bin:text` or `bin:hex:…`, `{"map": …}`, `{"array": …}`,
or `{"~": "source", …}` for a composite with the names of its fields; text and flags are themselves.
"""

import json
import re
from typing import Any, cast
from uuid import UUID

from proton import (
    UNDESCRIBED,
    Array,
    Data,
    Described,
    int32,
    symbol,
    timestamp,
    ubyte,
    uint,
    ulong,
    ushort,
)

from local.servicebus import raw

type Frame = dict[str, Any]

COMPOSITES: dict[str, tuple[int, str]] = {
    "open": (0x10, "container-id hostname max-frame-size channel-max idle-time-out outgoing-locales"
    " incoming-locales offered-capabilities desired-capabilities properties"),
    "begin": (0x11, "remote-channel next-outgoing-id incoming-window outgoing-window handle-max"
    " offered-capabilities desired-capabilities properties"),
    "attach": (0x12, "name handle role snd-settle-mode rcv-settle-mode source target unsettled"
    " incomplete-unsettled initial-delivery-count max-message-size offered-capabilities"
    " desired-capabilities properties"),
    "flow": (0x13, "next-incoming-id incoming-window next-outgoing-id outgoing-window handle"
    " delivery-count link-credit available drain echo properties"),
    "transfer": (0x14, "handle delivery-id delivery-tag message-format settled more"
    " rcv-settle-mode state resume aborted batchable"),
    "disposition": (0x15, "role first last settled state batchable"),
    "detach": (0x16, "handle closed error"),
    "end": (0x17, "error"),
    "close": (0x18, "error"),
    "error": (0x1D, "condition description info"),
    "received": (0x23, "section-number section-offset"),
    "accepted": (0x24, ""),
    "rejected": (0x25, "error"),
    "released": (0x26, ""),
    "modified": (0x27, "delivery-failed undeliverable-here message-annotations"),
    "source": (0x28, "address durable expiry-policy timeout dynamic dynamic-node-properties"
    " distribution-mode filter default-outcome outcomes capabilities"),
    "target": (0x29, "address durable expiry-policy timeout dynamic dynamic-node-properties"
    " capabilities"),
    "sasl-mechanisms": (0x40, "mechanisms"),
    "sasl-init": (0x41, "mechanism initial-response hostname"),
    "sasl-outcome": (0x44, "code additional-data"),
    "header": (0x70, "durable priority ttl first-acquirer delivery-count"),
    "properties": (0x73, "message-id user-id to subject reply-to correlation-id content-type"
    " content-encoding absolute-expiry-time creation-time group-id group-sequence"
    " reply-to-group-id"),
}  # fmt: skip
SECTIONS = {
    "delivery-annotations": 0x71,
    "message-annotations": 0x72,
    "application-properties": 0x74,
    "data": 0x75,
    "amqp-sequence": 0x76,
    "amqp-value": 0x77,
}
CODES = {name: code for name, (code, _) in COMPOSITES.items()} | SECTIONS
NAMES = {code: name for name, code in CODES.items()}
NUMBERS = {
    "int": int32,
    "long": int,
    "ubyte": ubyte,
    "ushort": ushort,
    "uint": uint,
    "ulong": ulong,
    "timestamp": timestamp,
}
ARRAYS = {"long": Data.LONG, "uuid": Data.UUID, "sym": Data.SYMBOL, "timestamp": Data.TIMESTAMP}


def encoded(frame: Frame) -> bytes:
    """The bytes of a frame, of a protocol header, or of what a transfer carries with it."""
    if frame["frame"] == "protocol-header":
        return b"AMQP" + bytes([frame["protocol_id"], 1, 0, 0])
    fields = frame["fields"]
    if frame["frame"] == "sasl-init":
        fields = {"mechanism": fields["value"][0]}
    body = raw.encode(_value({"~": frame["frame"], **fields}))
    body += b"".join(raw.encode(_value(section)) for section in frame.get("message", []))
    kind = int(frame["frame"].startswith("sasl"))
    channel: int = frame.get("ch", 0)
    return (8 + len(body)).to_bytes(4) + bytes([2, kind]) + channel.to_bytes(2) + body


def decoded(piece: bytes) -> Frame:
    """A frame or protocol header, as the recordings would write it; `empty` for a heartbeat."""
    if piece.startswith(b"AMQP"):
        return {"frame": "protocol-header", "protocol_id": piece[4]}
    parts = sections(piece[8:])
    if not parts:
        return {"frame": "empty"}
    fields = {name: value for name, value in parts[0].items() if name != "~"}
    frame = {"frame": parts[0]["~"], "ch": int.from_bytes(piece[6:8]), "fields": fields}
    return frame | ({"message": parts[1:]} if len(parts) > 1 else {})


def sections(encoded: bytes) -> list[Any]:
    """The described values that stand one after another in `encoded`."""
    parts = []
    while encoded:
        data = Data()
        size = data.decode(encoded)
        data.rewind()
        data.next()
        parts.append(_written(data.get_object()))
        encoded = encoded[size:]
    return parts


def _value(written: Any) -> Any:
    """The value for Proton to encode."""
    if isinstance(written, dict):
        return _composed(written)
    if isinstance(written, list):
        return [_value(each) for each in written]
    if isinstance(written, str):
        return _scalar(written)
    return written


def _scalar(written: str) -> Any:
    prefix, _, rest = written.partition(":")
    if re.fullmatch(r"-?\d+", prefix) and rest in NUMBERS:
        return NUMBERS[rest](int(prefix))
    match prefix:
        case "sym":
            return symbol(rest)
        case "uuid":
            return UUID(rest)
        case "bin" if rest.startswith("hex:"):
            return bytes.fromhex(rest.removeprefix("hex:"))
        case "bin":
            return rest.encode()
    return written


def _composed(written: dict[str, Any]) -> Any:
    if "map" in written:
        return {_value(key): _value(value) for key, value in written["map"].items()}
    if "array" in written:
        values = [_value(each) for each in written["array"]]
        first = written["array"][0]
        kind = next(kind for name, kind in ARRAYS.items() if name in first.split(":"))
        return Array(UNDESCRIBED, kind, *values)  # type: ignore[arg-type]
    name = written["~"]
    if name in SECTIONS:
        return Described(ulong(CODES[name]), _value(written["value"]))
    fields = [_value(written.get(field)) for field in COMPOSITES[name][1].split()]
    while fields and fields[-1] is None:
        fields.pop()
    return Described(ulong(CODES[name]), fields)


def _written(value: Any) -> Any:
    if isinstance(value, Described):
        return _written_composite(NAMES[cast(int, value.descriptor)], value.value)
    if isinstance(value, dict):
        return {"map": {_written(key): _written(each) for key, each in value.items()}}
    if isinstance(value, Array):
        return {"array": [_written(each) for each in value.elements]}
    if isinstance(value, list):
        return [_written(each) for each in value]
    if isinstance(value, UUID):
        return f"uuid:{value}"
    if isinstance(value, bytes | memoryview):
        return _written_binary(bytes(value))
    if isinstance(value, symbol):
        return f"sym:{value}"
    return _written_number(value)


def _written_composite(name: str, value: Any) -> Any:
    if name in SECTIONS:
        return {"~": name, "value": _written(value)}
    fields = zip(COMPOSITES[name][1].split(), value or [], strict=False)
    return {"~": name} | {field: _written(each) for field, each in fields if each is not None}


def _written_binary(value: bytes) -> str:
    text = value.decode("ascii", "replace")
    return f"bin:{text}" if text.isprintable() and text.isascii() else f"bin:hex:{value.hex()}"


def _written_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    names = {kind: name for name, kind in NUMBERS.items()}
    return f"{int(value)}:{names[type(value)]}"


def load(text: str) -> list[Frame]:
    """The frames of a recording."""
    frames: list[Frame] = json.loads(text)
    return frames
