"""What goes wrong on demand, for tests of those who use the broker. Off unless it is asked for.

Nothing here breaks what the broker promises: what it has accepted is delivered, what was settled
stays settled. It does on purpose what networks, restarts and retries do by chance.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from local.servicebus.broker import Broker
from local.servicebus.clock import Clock
from local.servicebus.connection import Connection
from local.servicebus.entities import Queue, TopicEntity
from local.servicebus.publishing import Publishing
from local.servicebus.receiving import Delivery, Receiving
from local.servicebus.service import Service
from local.servicebus.store import Entry, State, Store
from local.servicebus.topology import Topology

REORDERED = 1_000
"""Messages of a queue that change places at most."""


@dataclass
class Faults:
    """The switches. The three counts go down by one each time, and it is over at 0."""

    paused: bool = False
    """Nothing is read, answered or delivered; the clock runs on."""

    delay_seconds: float = 0.0
    """How much later everything that the broker says leaves."""

    lost_requests: int = 0
    """Sends whose connection is cut before anything is stored."""

    lost_answers: int = 0
    """Sends that are accepted, but whose connection is cut instead of answered."""

    duplicates: int = 0
    """Messages of which a receiver gets a second copy, under the same message id."""

    duplicate_share: float = 0.0
    """The share of all messages that is handed out twice so, evenly spread."""

    newest_first: bool = False
    """Receivers get the youngest of the waiting messages first."""


class RequestLost(Exception):
    """Cuts the connection of a sender, and undoes what the same read has brought."""


class FaultyBroker(Broker):
    def __init__(self, topology: Topology, store: Store, clock: Clock, faults: Faults) -> None:
        super().__init__(topology, store, clock)
        self.publishing = FaultyPublishing(store, clock, self.ready, faults)
        self.receiving = FaultyReceiving(store, clock, faults)


class FaultyPublishing(Publishing):
    def __init__(self, store: Store, clock: Clock, ready: set[int], faults: Faults) -> None:
        super().__init__(store, clock, ready)
        self._faults = faults

    def publish(self, topic: TopicEntity, messages: Iterable[bytes]) -> list[int]:
        if self._faults.lost_requests > 0:
            self._faults.lost_requests -= 1
            raise RequestLost(f"A send to '{topic.address}' was lost on demand.")
        numbers = super().publish(topic, messages)
        if self._faults.lost_answers > 0:
            self._faults.lost_answers -= 1
        return numbers


class FaultyReceiving(Receiving):
    def __init__(self, store: Store, clock: Clock, faults: Faults) -> None:
        super().__init__(store, clock)
        self._faults = faults
        self._met: set[int] = set()
        self._owed = 0.0

    def _ready(self, queue: Queue, count: int) -> list[Entry]:
        if self._faults.newest_first:
            return super()._ready(queue, REORDERED)[::-1][:count]
        return super()._ready(queue, count)

    def _hand_out(self, queue: Queue, entry: Entry, *, delete: bool) -> Delivery:
        if entry.state == State.ACTIVE and self._is_new(entry) and self._is_doubled():
            self._met.add(self._copy(entry))
        return super()._hand_out(queue, entry, delete=delete)

    def _is_new(self, entry: Entry) -> bool:
        """Neither a copy nor delivered before: what is refused again must not multiply."""
        if entry.delivery_count > 0 or entry.sequence_number in self._met:
            return False
        self._met.add(entry.sequence_number)
        return True

    def _is_doubled(self) -> bool:
        if self._faults.duplicates > 0:
            self._faults.duplicates -= 1
            return True
        self._owed += self._faults.duplicate_share
        if self._owed < 1:
            return False
        self._owed -= 1
        return True

    def _copy(self, entry: Entry) -> int:
        return self._store.add(
            entry.entity,
            self._store.content(entry.sequence_number),
            state=State.ACTIVE,
            enqueued=entry.enqueued,
            due=entry.expires,
            time_to_live=entry.time_to_live,
        )


class FaultyConnection(Connection):
    def __init__(self, service: Service, connections: "set[Connection]", faults: Faults) -> None:
        super().__init__(service, connections)
        self._faults = faults
        self._unread: list[bytes] = []
        self._unsent: list[bytes] = []
        self._leaves_at = 0.0
        self._answer_is_lost = False

    def data_received(self, data: bytes) -> None:
        if self._faults.paused:
            self._unread.append(data)
        else:
            super().data_received(data)

    def resume(self) -> None:
        """Catch up with what was held back during a pause."""
        unsent, self._unsent = self._unsent, []
        unread, self._unread = self._unread, []
        for data in unsent:
            self._write(data)
        for data in unread:
            super().data_received(data)

    def flush(self) -> None:
        if self._answer_is_lost:
            self.abort()
        else:
            super().flush()

    def _receive(self, data: bytes) -> None:
        before = self._faults.lost_answers
        super()._receive(data)
        self._answer_is_lost = self._faults.lost_answers < before

    def _write(self, data: bytes) -> None:
        if self._faults.paused:
            self._unsent.append(data)
            return
        loop = asyncio.get_running_loop()
        # Never before what is still to leave: the bytes of a stream keep their order.
        self._leaves_at = max(loop.time() + self._faults.delay_seconds, self._leaves_at + 1e-6)
        if self._leaves_at > loop.time():
            loop.call_at(self._leaves_at, partial(super()._write, data))
        else:
            super()._write(data)
