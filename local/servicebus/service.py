"""Runs the broker in turns: one transaction each, answered only after its commit.

A turn does what has come due, then the work that started it (the frames that one read brought),
then delivers what is ready to whoever has credit. What connections have to say is written to
their sockets after the commit; when anything fails, nothing was stored or answered, and the
connections that took part are cut, so that both sides know the same.
"""

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Callable
from typing import Protocol

from local.servicebus.broker import Broker
from local.servicebus.clock import Clock
from local.servicebus.entities import Queue
from local.servicebus.receiving import Delivery
from local.servicebus.store import Store

logger = logging.getLogger(__name__)

CHUNK_COUNT = 100
CHUNK_SIZE = 1_048_576
"""Messages and bytes that one consumer gets before the next one's turn."""


class Outlet(Protocol):
    """A connection, as far as a turn needs it."""

    def flush(self) -> None:
        """Write what there is to say to the socket."""

    def abort(self) -> None:
        """Cut the connection without a word."""


class Consumer(Protocol):
    """A receiver's link on a queue."""

    @property
    def queue(self) -> Queue: ...

    @property
    def outlet(self) -> Outlet: ...

    @property
    def deletes(self) -> bool:
        """Whether a message is gone with its delivery, instead of locked."""

    def room(self) -> int:
        """Messages that may be delivered to it now."""

    def deliver(self, deliveries: list[Delivery]) -> None: ...

    def drained(self) -> None:
        """Called when it has got what there is, after it asked for more."""


class Service:
    """The broker with its clock and its consumers; everything runs on one event loop."""

    def __init__(self, broker: Broker, store: Store, clock: Clock) -> None:
        self.broker = broker
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Gets the exception when the store cannot be used any more."""
        self._store = store
        self._clock = clock
        self._consumers: dict[int, deque[Consumer]] = {}
        self._asking: list[Consumer] = []
        self._stalled: set[int] = set()
        self._touched: set[Outlet] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def turn(self, outlet: Outlet | None = None, work: Callable[[], None] | None = None) -> None:
        """One turn; `work` is done for `outlet`, which is flushed or cut with the others."""
        if self._closed or self.failure.done():
            return
        if outlet is not None:
            self._touched.add(outlet)
        try:
            with self._store.transaction():
                self.broker.sweep()
                if work is not None:
                    work()
                self._serve()
        except Exception as error:
            self._failed(error, blamed=outlet is not None)
        else:
            for touched in self._touched:
                touched.flush()
        self._touched.clear()
        self._set_timer()

    def attach(self, consumer: Consumer) -> None:
        self._consumers.setdefault(consumer.queue.id, deque()).append(consumer)

    def detach(self, consumer: Consumer) -> None:
        self._consumers[consumer.queue.id].remove(consumer)

    def ask(self, consumer: Consumer) -> None:
        """Note, inside a turn, that `consumer` has new credit."""
        self._asking.append(consumer)
        self.broker.ready.add(consumer.queue.id)

    def close(self) -> None:
        """End the timer and close the store; turns that were still to come do nothing."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._store.close()

    def _serve(self) -> None:
        ready = self.broker.ready | self._stalled
        self.broker.ready.clear()
        self._stalled.clear()
        for queue in ready:
            self._serve_queue(self._consumers.get(queue, deque()))
        for consumer in self._asking:
            consumer.drained()
        self._asking.clear()

    def _serve_queue(self, consumers: deque[Consumer]) -> None:
        unable = 0
        while unable < len(consumers):
            consumer = consumers[0]
            count = min(consumer.room(), CHUNK_COUNT)
            if count == 0:
                unable += 1
                consumers.rotate(-1)
                continue
            deliveries = self.broker.receiving.take(
                consumer.queue, count, CHUNK_SIZE, delete=consumer.deletes
            )
            if not deliveries:
                return
            unable = 0
            consumers.rotate(-1)
            self._touched.add(consumer.outlet)
            consumer.deliver(deliveries)
        if consumers:
            self._stalled.add(consumers[0].queue.id)

    def _failed(self, error: Exception, *, blamed: bool) -> None:
        for touched in self._touched:
            touched.abort()
        self._asking.clear()
        if isinstance(error, sqlite3.Error) or not blamed:
            self.failure.set_exception(error)
        else:
            logger.error("a connection was cut after an unexpected error", exc_info=error)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.failure.done():
            return
        due = self.broker.next_due()
        if due is not None:
            delay = self._clock.seconds_until(due)
            self._timer = asyncio.get_running_loop().call_later(delay, self.turn)
