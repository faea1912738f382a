"""Plays what a recorded client sent to a broker, and finds the broker's answer to each frame."""

import socket
from typing import Any
from uuid import UUID

from local.servicebus.frames import FrameReader
from tests.contract.servicebus.notation import Frame, decoded, encoded


class Side:
    """Knows the links of one end of a connection, whose frames it is shown in their order."""

    def __init__(self) -> None:
        self._channels: dict[int, int] = {}
        self._links: dict[tuple[int, str], str] = {}

    def key(self, frame: Frame) -> tuple[object, ...]:
        """What tells this frame from the others: its kind, session, link and subject."""
        fields = frame.get("fields", {})
        channel = frame.get("ch", 0)
        if frame["frame"] == "begin":
            self._channels[channel] = int(fields["remote-channel"].partition(":")[0])
        session = self._channels.get(channel, channel)
        if frame["frame"] == "attach":
            self._links[channel, fields["handle"]] = fields["name"]
        link = self._links.get((channel, fields.get("handle", "")))
        return frame["frame"], session, link, _subject(frame)


def _subject(frame: Frame) -> object:
    """The message that a transfer carries, or the first delivery that a disposition settles."""
    if frame["frame"] == "disposition":
        return frame["fields"]["role"], frame["fields"]["first"]
    properties = part(frame, "properties") or {}
    return properties.get("message-id") or properties.get("correlation-id")


class Replay:
    """A connection that sends recorded frames; lock tokens in them are exchanged for real ones."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self._reader = FrameReader()
        self._recorded, self._real = Side(), Side()
        self._unclaimed: dict[tuple[object, ...], list[Frame]] = {}
        self._tokens: dict[str, str] = {}

    def __enter__(self) -> "Replay":
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def send(self, frame: Frame) -> None:
        self._socket.sendall(encoded(self._with_real_tokens(frame)))

    def answer_to(self, recorded: Frame) -> Frame:
        """The frame that the broker sends where `recorded` was sent; waits until it comes."""
        key = self._recorded.key(recorded)
        while not self._unclaimed.get(key):
            self._read(recorded)
        answer = self._unclaimed[key].pop(0)
        for old, new in zip(_tokens(recorded), _tokens(answer), strict=True):
            self._tokens[old] = new
        return answer

    def _read(self, awaited: Frame) -> None:
        data = self._socket.recv(65_536)
        assert data, f"the connection ended; still awaited: {awaited}"
        for piece in self._reader.feed(data):
            frame = decoded(piece)
            for each in _each_delivery(frame):
                self._unclaimed.setdefault(self._real.key(each), []).append(each)

    def _with_real_tokens(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._with_real_tokens(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._with_real_tokens(each) for each in value]
        return self._tokens.get(value, value) if isinstance(value, str) else value


def _each_delivery(frame: Frame) -> list[Frame]:
    """A disposition of several deliveries as one for each: brokers are free to join them."""
    if frame["frame"] != "disposition":
        return [frame]
    fields = frame["fields"]
    first = int(fields["first"].partition(":")[0])
    last = int(fields.get("last", fields["first"]).partition(":")[0])
    return [
        frame | {"fields": {**fields, "first": f"{each}:uint", "last": None}}
        for each in range(first, last + 1)
    ]


def _tokens(frame: Frame) -> list[str]:
    """The lock tokens that a frame hands out."""
    found = []
    if frame["frame"] == "transfer" and not frame["fields"].get("settled"):
        found.append(f"uuid:{UUID(bytes_le=binary(frame['fields']['delivery-tag']))}")
    entries = ((part(frame, "amqp-value") or {}).get("map") or {}).get("messages", [])
    return found + [each["map"]["lock-token"] for each in entries if "lock-token" in each["map"]]


def part(frame: Frame, name: str) -> Any:
    """The section of that name in what a transfer carries, None where it has none."""
    for section in frame.get("message", []):
        if section["~"] == name:
            return section.get("value", section)
    return None


def binary(written: str) -> bytes:
    """The bytes that `bin:…` stands for."""
    text = written.removeprefix("bin:")
    return bytes.fromhex(text[4:]) if text.startswith("hex:") else text.encode()
