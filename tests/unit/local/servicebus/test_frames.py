"""The byte stream is cut where the frames are, whatever the pieces it comes in."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proton import Described, ubyte, uint, ulong

from local.servicebus import raw
from local.servicebus.frames import BATCH_FORMAT, FrameReader, is_batch
from local.servicebus.sasl import AMQP_HEADER, MECHANISMS, SASL_HEADER, SaslServer, Step

HEARTBEAT = b"\x00\x00\x00\x08\x02\x00\x00\x00"


def frame(code: int, fields: list[Any], payload: bytes = b"", kind: int = 0) -> bytes:
    body = raw.encode(Described(ulong(code), fields)) + payload
    return (8 + len(body)).to_bytes(4) + bytes([2, kind, 0, 0]) + body


def transfer(message_format: int | None, payload: bytes = b"payload") -> bytes:
    wanted = None if message_format is None else uint(message_format)
    return frame(0x14, [uint(0), uint(300), b"\x01\x00\x00\x00", wanted, False], payload)


def init(mechanism: object) -> bytes:
    return frame(0x41, [mechanism, b"", "localhost"], kind=1)


@given(
    st.lists(st.sampled_from([AMQP_HEADER, HEARTBEAT, transfer(0), transfer(None)]), max_size=8),
    st.lists(st.integers(1, 40), max_size=30),
)
def test_frames_come_whole_and_in_order(pieces: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(pieces)
    reader = FrameReader()
    read: list[bytes] = []
    for cut in [*cuts, len(stream)]:
        read += reader.feed(stream[:cut])
        stream = stream[cut:]
    assert read == pieces


def test_a_size_that_no_frame_has_is_passed_on_for_the_engine_to_refuse() -> None:
    reader = FrameReader()
    assert list(reader.feed(b"\x00\x00\x00\x02rest of it")) == [b"\x00\x00\x00\x02rest of it"]
    assert list(reader.feed(b"\xff\xff\xff\xffand more")) == [b"\xff\xff\xff\xffand more"]


@pytest.mark.parametrize(
    ("piece", "batch"),
    [
        (transfer(BATCH_FORMAT), True),
        (transfer(0), False),
        (transfer(None), False),
        (frame(0x14, [uint(0), uint(1)]), False),
        (frame(0x13, [None, uint(5), uint(6), uint(BATCH_FORMAT)]), False),
        (HEARTBEAT, False),
        (AMQP_HEADER, False),
    ],
)
def test_only_a_transfer_with_the_batch_format_is_a_batch(piece: bytes, batch: bool) -> None:
    assert is_batch(piece) is batch


def test_the_handshake_offers_the_mechanisms_and_lets_the_client_in() -> None:
    server = SaslServer()
    offer = server.receive(SASL_HEADER)
    assert offer.startswith(SASL_HEADER)
    assert all(name.encode() in offer for name in MECHANISMS)
    outcome = server.receive(init("ANONYMOUS"))
    assert outcome.endswith(b"\x50\x00")
    assert server.step is Step.DONE


@pytest.mark.parametrize("header", [AMQP_HEADER, b"AMQP\x02\x01\x00\x00", b"GET / HT"])
def test_a_client_without_sasl_is_told_to_use_it(header: bytes) -> None:
    server = SaslServer()
    assert server.receive(header) == SASL_HEADER
    assert server.step is Step.REFUSED


@pytest.mark.parametrize(
    "piece", [init("PLAIN"), init(ubyte(1)), frame(0x41, [], kind=1), HEARTBEAT, transfer(0)]
)
def test_another_mechanism_is_refused(piece: bytes) -> None:
    server = SaslServer()
    server.receive(SASL_HEADER)
    assert server.receive(piece).endswith(b"\x50\x01")
    assert server.step is Step.REFUSED
