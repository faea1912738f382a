"""Frames written by hand on a socket."""

import socket

from proton import (
    Described,
    symbol,
    ubyte,
    uint,
    ulong,
)

from local.servicebus import raw
from local.servicebus.frames import FrameReader
from local.servicebus.sasl import AMQP_HEADER, SASL_HEADER


class Wire:
    """One connection with one session and one link, after its handshake."""

    def __init__(self, port: int, mechanism: str = "ANONYMOUS") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self._reader = FrameReader()
        self._frames: list[bytes] = []
        self._sent = 0
        self.socket.sendall(SASL_HEADER)
        assert self._next() == SASL_HEADER
        assert mechanism.encode() in self._next()
        self._write(0x41, [symbol(mechanism), None, None], kind=1)
        assert self._next().endswith(b"\x50\x00")
        self.socket.sendall(AMQP_HEADER)
        self._write(0x10, ["wire", "localhost"])

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def open_link(self, address: str) -> None:
        self._write(0x11, [None, uint(0), uint(5000), uint(5000)])
        target = Described(ulong(0x29), [address])
        source = Described(ulong(0x28), ["here"])
        self._write(
            0x12, ["l", uint(0), False, ubyte(2), ubyte(0), source, target, None, None, uint(0)]
        )

        self._until(0x13)

    def transfer(self, payload: bytes, *, more: bool, message_format: int | None = 0) -> None:
        first = self._sent == 0
        self._sent += 1
        self._write(
            0x14,
            [
                uint(0),
                uint(0) if first else None,
                b"tag" if first else None,
                None if message_format is None else uint(message_format),
                False,
                more,
            ],
            payload,
        )

    def outcome(self) -> int:
        """The code of the outcome in the next disposition."""
        fields = raw.list_items(self._until(0x15), 11)
        return raw.described(fields[4], 0)[0]

    def until_eof(self) -> None:
        while self.socket.recv(65_536):
            pass

    def _until(self, code: int) -> bytes:
        """The next frame whose performative has this code."""
        while (frame := self._next())[10:11] != bytes([code]):
            pass
        return frame

    def _next(self) -> bytes:
        while not self._frames:
            data = self.socket.recv(65_536)
            assert data, "the broker closed the connection"
            self._frames += self._reader.feed(data)
        return self._frames.pop(0)

    def _write(self, code: int, fields: list[object], payload: bytes = b"", kind: int = 0) -> None:
        body = raw.encode(Described(ulong(code), fields)) + payload  # type: ignore[arg-type]
        self.socket.sendall((8 + len(body)).to_bytes(4) + bytes([2, kind, 0, 0]) + body)
