"""A broker without connections, whose clock the test moves."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from proton import Message, symbol, timestamp

from local.servicebus import raw
from local.servicebus.broker import Broker
from local.servicebus.entities import Queue, TopicEntity
from local.servicebus.receiving import Delivery
from local.servicebus.store import Store
from local.servicebus.topology import Subscription, Topic, Topology

START = 1_700_000_000_000


class HandClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> int:
        return self.time

    def seconds_until(self, moment: int) -> float:
        raise AssertionError("nobody waits for it")


@dataclass(frozen=True)
class Got:
    """What a receiver sees of one delivery."""

    token: UUID | None
    message: Message

    @property
    def body(self) -> str:
        return str(self.message.body)

    @property
    def id(self) -> UUID:
        assert self.token is not None
        return self.token

    @property
    def number(self) -> int:
        return self.annotation("x-opt-sequence-number")

    def annotation(self, name: str) -> int:
        assert self.message.annotations is not None
        return int(self.message.annotations[symbol(name)])


def message(body: str, **fields: Any) -> bytes:
    """An encoded message; `scheduled` is the time in milliseconds for which it is meant."""
    scheduled = fields.pop("scheduled", None)
    if isinstance(scheduled, int):
        fields["annotations"] = {symbol("x-opt-scheduled-enqueue-time"): timestamp(scheduled)}
    return bytes(Message(body=body, **fields).encode())


class Bus:
    """One topic `jobs`; every call is a turn of its own: a sweep and the call in a transaction."""

    def __init__(self, folder: Path, *subscriptions: Subscription, **topic: int | None) -> None:
        self.clock = HandClock()
        self.folder = folder
        self.open(*subscriptions, **topic)

    def open(self, *subscriptions: Subscription, **topic: int | None) -> None:
        topology = Topology((Topic("jobs", subscriptions, **topic),))
        self.store = Store(self.folder)
        with self.store.transaction():
            self.broker = Broker(topology, self.store, self.clock)

    def close(self) -> None:
        self.store.close()

    @contextmanager
    def turn(self) -> Iterator[Broker]:
        with self.store.transaction():
            self.broker.sweep()
            yield self.broker

    @property
    def topic(self) -> TopicEntity:
        return self.broker.directory.topic("jobs")

    def queue(self, name: str) -> Queue:
        """`sub` or `sub/$DeadLetterQueue`."""
        return self.broker.directory.queue(f"jobs/Subscriptions/{name}")

    def send(self, *messages: bytes) -> list[int]:
        with self.turn() as broker:
            return broker.publishing.publish(self.topic, messages)

    def receive(self, name: str = "sub", count: int = 10, *, delete: bool = False) -> list[Got]:
        with self.turn() as broker:
            return _got(broker.receiving.take(self.queue(name), count, 1_000_000, delete=delete))

    def receive_deferred(self, *numbers: int, name: str = "sub", delete: bool = False) -> list[Got]:
        with self.turn() as broker:
            return _got(broker.receiving.receive_deferred(self.queue(name), numbers, delete=delete))

    def peek(self, name: str = "sub", start: int = 0, count: int = 100) -> list[Got]:
        entity = self.topic if name == "jobs" else self.queue(name)
        with self.turn() as broker:
            return _got(broker.receiving.peek(entity, start, count, 1_000_000))

    def complete(self, got: Got, name: str = "sub") -> None:
        with self.turn() as broker:
            broker.settlement.complete(self.queue(name), got.id)

    def release(self, got: Got, name: str = "sub") -> None:
        with self.turn() as broker:
            broker.settlement.release(self.queue(name), got.id)

    def abandon(self, got: Got, name: str = "sub", **changes: object) -> None:
        with self.turn() as broker:
            broker.settlement.abandon(self.queue(name), got.id, _encoded(changes))

    def defer(self, got: Got, name: str = "sub", **changes: object) -> None:
        with self.turn() as broker:
            broker.settlement.defer(self.queue(name), got.id, _encoded(changes))

    def dead_letter(self, got: Got, name: str = "sub", **why: object) -> None:
        with self.turn() as broker:
            broker.settlement.dead_letter(self.queue(name), got.id, _encoded(why))

    def renew(self, got: Got, name: str = "sub") -> int:
        return self.renew_all(got, name=name)[0]

    def renew_all(self, *got: Got, name: str = "sub") -> list[int]:
        with self.turn() as broker:
            return broker.settlement.renew(self.queue(name), [each.id for each in got])

    def cancel(self, *numbers: int) -> None:
        with self.turn() as broker:
            broker.publishing.cancel(self.topic, numbers)

    def pass_time(self, milliseconds: int) -> None:
        """Move the clock and sweep."""
        self.clock.time += milliseconds
        with self.turn():
            pass


def _encoded(changes: dict[str, object]) -> dict[str, bytes]:
    return {name: raw.encode(value) for name, value in changes.items()}


def _got(deliveries: list[Delivery]) -> list[Got]:
    return [Got(delivery.lock_token, _decoded(delivery.encoded)) for delivery in deliveries]


def _decoded(encoded: bytes) -> Message:
    decoded = Message()
    decoded.decode(encoded)
    return decoded


def bodies(deliveries: list[Got]) -> list[str]:
    return [each.body for each in deliveries]
