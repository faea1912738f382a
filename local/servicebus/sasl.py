"""The SASL handshake, made by hand: Proton offers no mechanism but its own from Python.

Every mechanism that is named here lets the client in without looking at what it sends: who may do
what is decided by tokens on `$cbs`, and a local broker takes any token.
"""

from enum import Enum, auto

from local.servicebus import raw

SASL_HEADER = b"AMQP\x03\x01\x00\x00"
AMQP_HEADER = b"AMQP\x00\x01\x00\x00"

MECHANISMS = ("ANONYMOUS", "MSSBCBS")
"""ANONYMOUS is what Microsoft's Python and Node clients choose, MSSBCBS is the .NET client's."""

_MECHANISMS_CODE = 0x40
_INIT_CODE = 0x41
_OUTCOME_CODE = 0x44
_OK = b"\x50\x00"
_REFUSED = b"\x50\x01"


class Step(Enum):
    HEADER = auto()
    INIT = auto()
    DONE = auto()
    REFUSED = auto()


class SaslServer:
    """Takes the first pieces of a connection until `step` is DONE or REFUSED."""

    def __init__(self) -> None:
        self.step = Step.HEADER

    def receive(self, piece: bytes) -> bytes:
        """Take one header or frame; answers the bytes to send back."""
        if self.step is Step.HEADER:
            return self._header(piece)
        return self._init(piece)

    def _header(self, piece: bytes) -> bytes:
        if piece == SASL_HEADER:
            self.step = Step.INIT
            symbols = b"".join(raw.symbol(name)[1:] for name in MECHANISMS)
            array = b"\xe0" + bytes([len(symbols) + 2, len(MECHANISMS)]) + b"\xa3" + symbols
            return SASL_HEADER + _frame(_MECHANISMS_CODE, array)
        # AMQP 1.0 has a server answer a protocol that it does not offer with one that it does.
        self.step = Step.REFUSED
        return SASL_HEADER

    def _init(self, piece: bytes) -> bytes:
        if _mechanism(piece) in MECHANISMS:
            self.step = Step.DONE
            return _frame(_OUTCOME_CODE, _OK)
        self.step = Step.REFUSED
        return _frame(_OUTCOME_CODE, _REFUSED)


def _mechanism(frame: bytes) -> object:
    try:
        code, at = raw.described(frame, frame[4] * 4)
        return raw.decode(raw.list_items(frame, at)[0]) if code == _INIT_CODE else None
    except (raw.DecodeError, IndexError):
        return None


def _frame(code: int, field: bytes) -> bytes:
    body = raw.list_section(code, [field])
    return (8 + len(body)).to_bytes(4) + b"\x02\x01\x00\x00" + body
