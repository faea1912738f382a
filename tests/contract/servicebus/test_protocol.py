"""What goes over the wire: credit, frames, outcomes, and what is refused."""

import socket
from collections.abc import Iterator

import pytest
from proton import (
    Condition,
    Delivery,
    Described,
    Disposition,
    Link,
    Message,
    Terminus,
    int32,
    symbol,
    ubyte,
    uint,
    ulong,
)

from local.servicebus import raw
from local.servicebus.frames import BATCH_FORMAT, FrameReader
from local.servicebus.sasl import AMQP_HEADER, SASL_HEADER
from tests.contract.servicebus.raw_client import RawClient, raw_client
from tests.contract.servicebus.running import RunningBus

SUB = "jobs/Subscriptions/sub"
DEAD = f"{SUB}/$DeadLetterQueue"


@pytest.fixture
def client(bus: RunningBus) -> Iterator[RawClient]:
    with raw_client(bus.port) as client:
        yield client


def message(body: object, **fields: object) -> bytes:
    return bytes(Message(body=body, **fields).encode())  # type: ignore[arg-type]


def condition_of(delivery: Delivery) -> Condition:
    assert delivery.remote_state == Disposition.REJECTED
    assert delivery.remote.condition is not None
    return delivery.remote.condition


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


# Credit


def test_no_more_is_delivered_than_there_is_credit_for(client: RawClient) -> None:
    sender = client.sender("jobs")
    for n in range(5):
        client.send(sender, message(n))
    receiver = client.receiver(SUB, credit=2)
    assert [client.next().body for _ in range(2)] == [0, 1]
    client.idle(0.1)
    assert not client.arrived
    receiver.flow(3)
    assert [client.next().body for _ in range(3)] == [2, 3, 4]


def test_a_drain_is_answered_with_what_there_is_and_no_credit(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    receiver = client.receiver(SUB)
    receiver.drain(10)
    client.until(lambda: receiver.credit == 0 and client.arrived)
    assert not receiver.draining()
    assert client.next().body == "a"


def test_a_drain_of_an_empty_queue_is_answered(client: RawClient) -> None:
    receiver = client.receiver(SUB, credit=5)
    receiver.drain(0)
    client.until(lambda: receiver.credit == 0)
    receiver.drain_mode = False
    receiver.flow(1)
    client.send(client.sender("jobs"), message("later"))
    assert client.next().body == "later"


def test_a_sender_never_runs_out_of_credit(client: RawClient) -> None:
    sender = client.sender("jobs")
    client.until(lambda: sender.credit == 1_000)
    for n in range(1_200):
        delivery = sender.delivery(str(n))
        sender.stream(message(n))
        sender.advance()
        client.until(lambda: sender.credit > 0)
        if n % 100 == 0:
            client.until(lambda delivery=delivery: delivery.settled)  # type: ignore[misc]
    receiver = client.receiver(SUB, credit=1_200, settled=True)
    client.until(lambda: len(client.arrived) == 1_200)
    assert receiver.credit == 0


def test_consumers_take_turns(bus: RunningBus) -> None:
    with raw_client(bus.port) as first, raw_client(bus.port) as second:
        first.receiver(SUB, credit=10)
        second.receiver(SUB, credit=10)
        sender = first.sender("jobs")
        for n in range(6):
            first.send(sender, message(n))
        first.until(lambda: len(first.arrived) == 3)
        second.until(lambda: len(second.arrived) == 3)
        seen = [each.body for each in (*first.arrived, *second.arrived)]
        assert sorted(seen) == list(range(6))


def test_a_slow_reader_gets_everything_and_holds_up_nobody(bus: RunningBus) -> None:
    count, size = 300, 100_000
    with raw_client(bus.port) as slow, raw_client(bus.port) as other:
        sender = other.sender("jobs")
        for n in range(count):
            other.send(sender, message(n, properties={"filling": "x" * size}))
        slow.receiver(SUB, credit=count, settled=True)
        slow.paused = True
        slow.idle(0.2)
        other.send(sender, message("quick"))
        half = peek(other, start=count // 2)
        assert half["statusCode"] == 200, "more was taken than the reader has room for"
        slow.paused = False
        slow.until(lambda: len(slow.arrived) == count, seconds=30)
        assert [each.body for each in slow.arrived] == list(range(count))


def peek(client: RawClient, start: int = 0) -> dict[str, object]:
    """The properties of the reply to a peek at the next message."""
    reply = client.request(
        f"{SUB}/$management",
        properties={"operation": "com.microsoft:peek-message"},
        body={"from-sequence-number": start, "message-count": int32(1)},
    )
    return dict(reply.properties or {})


# Transfers


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


# Outcomes


def test_each_outcome_is_answered_with_itself(client: RawClient) -> None:
    sender = client.sender("jobs")
    receiver = client.receiver(SUB, credit=4)
    for state in (
        Disposition.ACCEPTED,
        Disposition.RELEASED,
        Disposition.MODIFIED,
        Disposition.REJECTED,
    ):
        client.send(sender, message("a"))
        delivery = client.settle(client.next(), state)
        assert delivery.remote_state == state
        assert delivery.remote.condition is None
        receiver.flow(1)
        while client.arrived:
            client.settle(client.arrived.popleft(), Disposition.ACCEPTED)


def test_modified_properties_travel_with_the_abandoned_message(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a", properties={"kept": True}))
    client.receiver(SUB, credit=2)
    arrived = client.next()
    arrived.delivery.local.failed = True
    arrived.delivery.local.annotations = {symbol("why"): "busy", symbol("tries"): int32(2)}
    client.settle(arrived, Disposition.MODIFIED)
    again = client.next().message
    assert again.delivery_count == 1
    assert again.properties == {"kept": True, "why": "busy", "tries": int32(2)}


def test_undeliverable_here_defers(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=2)
    arrived = client.next()
    arrived.delivery.local.undeliverable = True
    client.settle(arrived, Disposition.MODIFIED)
    client.idle(0.05)
    assert not client.arrived


def test_rejected_dead_letters_with_everything_it_says(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    arrived = client.next()
    arrived.delivery.local.condition = Condition(
        "com.microsoft:dead-letter",
        "said",
        {
            symbol("DeadLetterReason"): "bad",
            symbol("DeadLetterErrorDescription"): "unreadable",
            symbol("extra"): 5,
        },
    )
    client.settle(arrived, Disposition.REJECTED)
    client.receiver(DEAD, credit=1)
    assert client.next().message.properties == {
        "DeadLetterReason": "bad",
        "DeadLetterErrorDescription": "unreadable",
        "extra": 5,
    }


def test_an_outcome_that_comes_too_late_is_rejected(client: RawClient, bus: RunningBus) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    arrived = client.next()
    bus.pass_time(60)
    condition = condition_of(client.settle(arrived, Disposition.ACCEPTED))
    assert condition.name == "com.microsoft:message-lock-lost"


def test_a_delivery_settled_without_outcome_stays_locked(
    client: RawClient, bus: RunningBus
) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=2)
    client.next().delivery.settle()
    client.idle(0.05)
    assert not client.arrived
    bus.pass_time(60)
    assert client.next().message.delivery_count == 1


def test_an_outcome_may_come_settled(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    arrived = client.next()
    arrived.delivery.update(Disposition.ACCEPTED)
    arrived.delivery.settle()
    assert peek(client)["statusCode"] == 204


# Links


def refusal(link: Link) -> Condition:
    assert link.state & Link.REMOTE_CLOSED
    assert link.remote_source.type == link.remote_target.type == Terminus.UNSPECIFIED
    assert link.remote_condition is not None
    return link.remote_condition


def test_links_announce_the_largest_message(client: RawClient) -> None:
    assert client.sender("jobs").remote_max_message_size == 262_144
    assert client.receiver(SUB).remote_max_message_size == 262_144
    assert client.sender("jobs/$management").remote_max_message_size == 1_048_576


def test_links_keep_the_settle_modes_that_the_client_asked_for(client: RawClient) -> None:
    def second(link: Link) -> None:
        link.rcv_settle_mode = Link.RCV_SECOND

    receiver = client.receiver(SUB, prepare=second)
    assert receiver.remote_rcv_settle_mode == Link.RCV_SECOND
    deleting = client.receiver(SUB, settled=True)
    assert deleting.remote_snd_settle_mode == Link.SND_SETTLED


@pytest.mark.parametrize("name", ["nope", "jobs/Subscriptions/nope", "nope/$management", ""])
def test_a_link_to_an_unknown_entity_is_refused(client: RawClient, name: str) -> None:
    for link in (client.sender(name), client.receiver(name)):
        condition = refusal(link)
        assert condition.name == "amqp:not-found"
        assert "could not be found" in str(condition.description)
    assert client.sender("jobs").state & Link.REMOTE_ACTIVE


def test_links_on_the_wrong_side_of_a_topic_are_refused(client: RawClient) -> None:
    for link in (client.sender(SUB), client.receiver("jobs")):
        condition = refusal(link)
        assert condition.name == "amqp:not-allowed"
        assert "topic" in str(condition.description)


def test_transactions_and_sessions_are_refused_by_name(client: RawClient) -> None:
    def coordinator(link: Link) -> None:
        link.target.type = Terminus.COORDINATOR

    def session(link: Link) -> None:
        link.source.filter.put_dict(
            {
                symbol("com.microsoft:session-filter"): Described(
                    symbol("com.microsoft:session-filter"), "s1"
                )
            }
        )

    transactions = refusal(client.sender("jobs", prepare=coordinator))
    assert (transactions.name, transactions.description) == (
        "amqp:not-implemented",
        "Transactions are not offered.",
    )
    sessions = refusal(client.receiver(SUB, prepare=session))
    assert sessions.description == "Sessions are not offered."


def test_an_empty_filter_is_no_filter(client: RawClient) -> None:
    def empty(link: Link) -> None:
        link.source.filter.put_dict({})

    assert client.receiver(SUB, prepare=empty).state & Link.REMOTE_ACTIVE


def test_a_link_ends_as_the_client_ends_it(client: RawClient, bus: RunningBus) -> None:
    for end in (Link.close, Link.detach):
        receiver = client.receiver(SUB, credit=1)
        end(receiver)
        word = "CLOSE" if end is Link.close else "DETACH"
        client.until(lambda word=word: f"PN_LINK_REMOTE_{word}" in client.events)  # type: ignore[misc]
    client.session.close()
    client.until(lambda: "PN_SESSION_REMOTE_CLOSE" in client.events)
    session = client.engine.session()
    session.open()
    client.session = session
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    assert client.next().body == "a"


# Connections


def test_an_idle_client_is_kept_alive_with_empty_frames(bus: RunningBus) -> None:
    with raw_client(bus.port, idle_timeout=0.4) as client:
        client.receiver(SUB)
        before = client.transport.frames_input
        client.until(lambda: client.transport.frames_input >= before + 3)
        assert "eof" not in client.events


def test_a_connection_that_closes_is_answered(bus: RunningBus) -> None:
    with raw_client(bus.port) as client:
        client.receiver(SUB, credit=5)
        client.engine.close()
        client.until(lambda: "PN_CONNECTION_REMOTE_CLOSE" in client.events)
        client.until(lambda: "eof" in client.events)


def test_a_client_that_vanishes_leaves_nothing_behind(bus: RunningBus) -> None:
    with raw_client(bus.port) as gone:
        gone.receiver(SUB, credit=100)
    with raw_client(bus.port) as client:
        client.until(lambda: len(bus.server.connections) == 1)
        client.send(client.sender("jobs"), message("a"))
        client.receiver(SUB, credit=1)
        assert client.next().body == "a"


@pytest.mark.parametrize("first", [AMQP_HEADER, b"AMQP\x02\x01\x00\x00", b"GET / HTTP/1.1\r\n\r\n"])
def test_a_client_that_does_not_speak_sasl_is_told_and_cut(bus: RunningBus, first: bytes) -> None:
    with socket.create_connection(("127.0.0.1", bus.port), timeout=5) as plain:
        plain.sendall(first)
        assert plain.recv(8) == SASL_HEADER
        assert plain.recv(8) == b""


@pytest.mark.parametrize(
    "garbage",
    [b"\x00\x00\x00\x02garbage!", b"\xff" * 100, b"\x00\x00\x00\x10\x02\x00\x00\x00abcdefgh"],
)
def test_garbage_ends_its_own_connection_only(bus: RunningBus, garbage: bytes) -> None:
    with Wire(bus.port) as wire:
        wire.socket.sendall(garbage)
        wire.until_eof()
    with raw_client(bus.port) as client:
        client.send(client.sender("jobs"), message("a"))


def test_the_dotnet_clients_mechanism_is_let_in(bus: RunningBus) -> None:
    with Wire(bus.port, mechanism="MSSBCBS") as wire:
        wire.open_link("/jobs")
        wire.transfer(message("a"), more=False)
        assert wire.outcome() == 0x24


class Wire:
    """Frames written by hand on a socket."""

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
