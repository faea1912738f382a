"""Turns: what is answered when, who is served, and what a fault leaves behind."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from local.servicebus.broker import Broker
from local.servicebus.clock import SystemClock
from local.servicebus.entities import Queue
from local.servicebus.receiving import Delivery
from local.servicebus.service import CHUNK_COUNT, Service
from local.servicebus.store import Store
from local.servicebus.topology import Subscription, Topic, Topology
from tests.unit.local.servicebus.bus import message
from tests.until import until


class WatchedStore(Store):
    """Writes down what happens to transactions."""

    def __init__(self, folder: Path, journal: list[str]) -> None:
        super().__init__(folder)
        self.journal = journal

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            with super().transaction():
                yield
        except BaseException:
            self.journal.append("rolled back")
            raise
        self.journal.append("committed")


@dataclass(eq=False)
class Outlet:
    journal: list[str]
    name: str = "outlet"

    def flush(self) -> None:
        self.journal.append(f"{self.name} flushed")

    def abort(self) -> None:
        self.journal.append(f"{self.name} cut")


@dataclass(eq=False)
class Consumer:
    queue: Queue
    outlet: Outlet
    credit: int
    deletes: bool = True
    got: list[Delivery] = field(default_factory=list)
    drains: int = 0

    def room(self) -> int:
        return self.credit

    def deliver(self, deliveries: list[Delivery]) -> None:
        self.credit -= len(deliveries)
        self.got += deliveries

    def drained(self) -> None:
        self.drains += 1


class Rig:
    """A service on a store, with what a connection would do to it."""

    def __init__(self, folder: Path) -> None:
        self.journal: list[str] = []
        self.store = WatchedStore(folder, self.journal)
        subscription = Subscription("sub", lock_duration=50)
        self.clock = SystemClock()
        with self.store.transaction():
            topology = Topology((Topic("jobs", (subscription,)),))
            self.broker = Broker(topology, self.store, self.clock)
        self.service = Service(self.broker, self.store, self.clock)
        self.queue = self.broker.directory.queue("jobs/Subscriptions/sub")
        self.outlet = Outlet(self.journal)
        self.journal.clear()

    def send(self, *texts: str) -> None:
        def publish() -> None:
            topic = self.broker.directory.topic("jobs")
            self.broker.publishing.publish(topic, [message(text) for text in texts])

        self.service.turn(self.outlet, publish)

    def consumer(self, credit: int, name: str = "reader", *, deletes: bool = True) -> Consumer:
        consumer = Consumer(self.queue, Outlet(self.journal, name), credit, deletes)
        self.service.attach(consumer)
        self.service.turn(consumer.outlet, lambda: self.service.ask(consumer))
        self.journal.clear()
        return consumer


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    made = Rig(tmp_path)
    yield made
    made.service.close()


async def test_everybody_who_took_part_is_answered_after_the_commit(rig: Rig) -> None:
    consumer = rig.consumer(credit=5)
    rig.send("a")
    assert len(consumer.got) == 1
    assert rig.journal[0] == "committed"
    assert set(rig.journal[1:]) == {"outlet flushed", "reader flushed"}


async def test_a_fault_keeps_nothing_and_cuts_those_who_took_part(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        rig.broker.publishing.publish(rig.broker.directory.topic("jobs"), [message("a")])
        raise ZeroDivisionError

    rig.service.turn(rig.outlet, work)
    assert rig.journal == ["rolled back", "outlet cut"]
    assert "a connection was cut after an unexpected error" in caplog.text
    rig.journal.clear()
    consumer = rig.consumer(credit=5)
    rig.send("b")
    assert len(consumer.got) == 1
    assert not rig.service.failure.done()


async def test_a_store_that_fails_ends_the_service(rig: Rig) -> None:
    def work() -> None:
        raise sqlite3.OperationalError("disk I/O error")

    rig.service.turn(rig.outlet, work)
    assert rig.journal == ["rolled back", "outlet cut"]
    assert isinstance(rig.service.failure.exception(), sqlite3.OperationalError)
    rig.send("never")
    assert rig.journal == ["rolled back", "outlet cut"]


async def test_a_fault_of_the_broker_itself_ends_the_service(rig: Rig) -> None:
    def sweep() -> None:
        raise ZeroDivisionError

    rig.broker.sweep = sweep  # type: ignore[method-assign]
    rig.service.turn()
    assert isinstance(rig.service.failure.exception(), ZeroDivisionError)


async def test_messages_wait_for_credit(rig: Rig) -> None:
    consumer = rig.consumer(credit=2)
    rig.send("a", "b", "c")
    assert len(consumer.got) == 2
    consumer.credit = 1
    rig.service.turn(consumer.outlet, lambda: rig.service.ask(consumer))
    assert len(consumer.got) == 3


async def test_one_with_much_credit_does_not_take_everything(rig: Rig) -> None:
    rig.send(*(str(n) for n in range(3 * CHUNK_COUNT)))
    first = Consumer(rig.queue, Outlet(rig.journal), 10_000)
    second = Consumer(rig.queue, Outlet(rig.journal), 10_000)
    rig.service.attach(first)
    rig.service.attach(second)
    rig.service.turn(first.outlet, lambda: rig.service.ask(first))
    assert (len(first.got), len(second.got)) == (2 * CHUNK_COUNT, CHUNK_COUNT)


async def test_one_that_had_no_room_is_served_at_the_next_turn(rig: Rig) -> None:
    consumer = rig.consumer(credit=0)
    rig.send("a")
    consumer.credit = 1
    rig.service.turn()
    assert len(consumer.got) == 1


async def test_one_that_has_gone_is_not_served(rig: Rig) -> None:
    gone, stays = rig.consumer(credit=5), rig.consumer(credit=5)
    rig.service.detach(gone)
    rig.send("a", "b")
    assert (len(gone.got), len(stays.got)) == (0, 2)


async def test_a_drain_is_answered_after_what_there_is(rig: Rig) -> None:
    rig.send("a")
    consumer = rig.consumer(credit=5)
    assert (len(consumer.got), consumer.drains) == (1, 1)
    rig.send("b")
    assert consumer.drains == 1


async def test_time_makes_turns_by_itself(rig: Rig) -> None:
    rig.send("a")
    holder = rig.consumer(credit=1, deletes=False)
    assert len(holder.got) == 1
    other = rig.consumer(credit=1)
    await until(lambda: other.got)
    assert other.got[0].sequence_number == holder.got[0].sequence_number


async def test_nothing_happens_after_the_end(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.send("a")
    rig.consumer(credit=1, deletes=False)
    rig.service.close()
    before = list(rig.journal)
    rig.send("b")
    await asyncio.sleep(0.1)  # longer than the lock that the timer waited for
    assert rig.journal == before
    assert not rig.service.failure.done()
