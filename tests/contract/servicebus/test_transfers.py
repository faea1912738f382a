"""Messages on their way in and out: frames, batches, sizes, and what is no message."""

import pytest
from proton import Disposition, symbol

from local.servicebus import raw
from local.servicebus.frames import BATCH_FORMAT
from tests.contract.servicebus.raw_client import SUB, RawClient, condition_of, message, raw_client
from tests.contract.servicebus.running import RunningBus
from tests.contract.servicebus.wire import Wire


def test_a_delivery_starts_with_a_header_and_the_brokers_annotations(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a", id="m"))
    client.receiver(SUB, credit=1)
    arrived = client.next()
    assert arrived.encoded.startswith(b"\x00\x53\x70")
    assert set(arrived.message.annotations or {}) == {
        symbol("x-opt-sequence-number"),
        symbol("x-opt-enqueued-time"),
        symbol("x-opt-locked-until"),
        symbol("x-opt-message-state"),
    }


def test_a_message_may_come_in_many_frames(bus: RunningBus) -> None:
    with Wire(bus.port) as wire:
        wire.open_link("jobs")
        encoded = message(b"x" * 200_000)
        pieces = [encoded[at : at + 1_000] for at in range(0, len(encoded), 1_000)]
        for piece in pieces[:-1]:
            wire.transfer(piece, more=True)
        wire.transfer(pieces[-1], more=False)
        assert wire.outcome() == 0x24
    with raw_client(bus.port) as client:
        client.receiver(SUB, credit=1)
        assert len(client.next().body) == 200_000


def test_a_batch_may_come_in_many_frames(bus: RunningBus) -> None:
    section = [bytes([0, 0x53, 0x75]) + raw.encode(message(n)) for n in range(50)]
    encoded = b"".join(section)
    with Wire(bus.port) as wire:
        wire.open_link("jobs")
        for at in range(0, len(encoded), 100):
            wire.transfer(
                encoded[at : at + 100],
                more=at + 100 < len(encoded),
                message_format=BATCH_FORMAT if at == 0 else None,
            )
        assert wire.outcome() == 0x24
    with raw_client(bus.port) as client:
        client.receiver(SUB, credit=50)
        assert [client.next().body for _ in range(50)] == list(range(50))


def test_a_message_that_looks_like_a_batch_is_one_message(client: RawClient) -> None:
    inner = message("inner")
    client.send(client.sender("jobs"), message(inner))
    client.receiver(SUB, credit=1)
    assert bytes(client.next().body) == inner


def test_an_endless_message_is_refused_without_being_kept(client: RawClient) -> None:
    delivery = client.send(client.sender("jobs"), message(b"x" * 5_000_000))
    condition = condition_of(delivery)
    assert condition.name == "amqp:link:message-size-exceeded"
    assert "262144 are allowed" in str(condition.description)


def test_half_a_message_is_no_message(client: RawClient, bus: RunningBus) -> None:
    sender = client.sender("jobs")
    delivery = sender.delivery("t")
    sender.stream(message(b"x" * 100_000)[:50_000])
    client.idle(0.05)
    delivery.abort()
    client.send(sender, message("whole"))
    client.receiver(SUB, credit=2)
    assert client.next().body == "whole"
    with raw_client(bus.port) as cut:
        half = cut.sender("jobs")
        half.delivery("t")
        half.stream(message(b"x" * 100_000)[:50_000])
        cut.idle(0.05)
    client.idle(0.1)
    assert not client.arrived


@pytest.mark.parametrize("encoded", [b"nonsense", b"\x00\x53\x73\xa1\x01x", b"\x00\x53\x75"])
def test_what_is_no_message_is_refused(client: RawClient, encoded: bytes) -> None:
    sender = client.sender("jobs")
    assert condition_of(client.send(sender, encoded)).name == "amqp:decode-error"
    assert client.send(sender, message("good")).remote_state == Disposition.ACCEPTED


def test_a_message_that_is_sent_settled_is_taken(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"), settled=True)
    client.receiver(SUB, credit=1)
    assert client.next().body == "a"
