"""The frames of an AMQP 1.0 byte stream, and the one field of them that Proton does not show."""

from collections.abc import Iterator

from local.servicebus import raw

LARGEST_FRAME = 1_048_576
"""Bytes of a frame that we announce to take."""

BATCH_FORMAT = 0x80013700
"""Message format of a transfer whose data sections are whole messages: Microsoft's batch."""

_HEADER_SIZE = 8
_TRANSFER = 0x14
_MESSAGE_FORMAT_FIELD = 3


class FrameReader:
    """Cuts a stream into protocol headers (`AMQP` and four bytes) and frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Whole pieces, in order. What is no frame comes as it is, for the engine to refuse."""
        self._buffer += data
        at = 0
        while len(self._buffer) - at >= _HEADER_SIZE:
            size = self._size(at)
            if len(self._buffer) - at < size:
                break
            yield bytes(self._buffer[at : at + size])
            at += size
        del self._buffer[:at]

    def _size(self, at: int) -> int:
        if self._buffer.startswith(b"AMQP", at):
            return _HEADER_SIZE
        size = int.from_bytes(self._buffer[at : at + 4])
        return size if _HEADER_SIZE <= size <= LARGEST_FRAME else len(self._buffer) - at


def is_batch(frame: bytes) -> bool:
    """Whether `frame` is a transfer that starts a batch. Raises DecodeError for a broken one."""
    at = frame[4] * 4
    if at >= len(frame) or frame[at : at + 3] != bytes([0x00, 0x53, _TRANSFER]):
        return False
    fields = raw.list_items(frame, at + 3)
    return (
        len(fields) > _MESSAGE_FORMAT_FIELD
        and raw.decode(fields[_MESSAGE_FORMAT_FIELD]) == BATCH_FORMAT
    )
