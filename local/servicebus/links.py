"""The two kinds of link on an entity: a client's sender on a topic, its receiver on a queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from proton import Condition, Delivery, Disposition, Link, PropertyDict, Receiver, Sender

from local.servicebus import raw
from local.servicebus.broker import Broker
from local.servicebus.entities import Queue, TopicEntity
from local.servicebus.errors import BadMessage, BrokerError, MessageTooLarge
from local.servicebus.message import LARGEST_MESSAGE, split_batch
from local.servicebus.receiving import Delivery as Handout
from local.servicebus.settlement import Changes

if TYPE_CHECKING:
    from local.servicebus.connection import Connection

_SOURCE = PropertyDict(source="local-servicebus")
"""Goes with every rejection: without some such info Microsoft's Python client waits for ever."""

CREDIT = 1_000
"""Messages that a client may send before it hears of more credit."""


class LinkHandler(Protocol):
    """What a connection tells the owner of one of its links."""

    def flow(self) -> None: ...

    def delivery(self, delivery: Delivery) -> None: ...

    def closed(self) -> None: ...


class Incoming:
    """Gathers the bytes of the transfers on a client's sending link, however many frames each has.

    `accept` is called with the bytes of each whole transfer; a BrokerError that it raises becomes
    the transfer's rejection. What is longer than `largest` bytes is rejected without being kept.
    """

    def __init__(self, link: Receiver, largest: int, accept: Callable[[bytes], None]) -> None:
        self._link = link
        self._largest = largest
        self._accept = accept
        self._size = 0
        self._parts: list[bytes] = []
        self._started = False
        link.flow(CREDIT)

    def flow(self) -> None:
        """A sender's flow says nothing that matters here."""

    def closed(self) -> None:
        """Half a transfer is no transfer."""

    def delivery(self, delivery: Delivery) -> None:
        if delivery.aborted:
            self._finish()
            delivery.settle()
            return
        self._read(delivery)
        if not delivery.partial:
            size, encoded = self._finish()
            answer(delivery, self._outcome(size, encoded))

    def _read(self, delivery: Delivery) -> None:
        self._started = True
        part = self._link.recv(delivery.pending) if delivery.pending else None
        if part:
            self._size += len(part)
            if self._size <= self._largest:
                self._parts.append(bytes(part))

    def _finish(self) -> tuple[int, bytes]:
        finished = self._size, b"".join(self._parts)
        self._started = False
        self._size = 0
        self._parts = []
        self._link.advance()
        if self._link.credit <= CREDIT // 2:
            self._link.flow(CREDIT - self._link.credit)
        return finished

    def _outcome(self, size: int, encoded: bytes) -> BrokerError | None:
        try:
            if size > self._largest:
                raise MessageTooLarge(f"The message has {size} bytes; {self._largest} are allowed.")
            self._accept(encoded)
        except BrokerError as error:
            return error
        return None


class Producer(Incoming):
    """A client's sender on a topic."""

    def __init__(self, connection: Connection, link: Receiver, topic: TopicEntity) -> None:
        super().__init__(link, LARGEST_MESSAGE, self._publish)
        self._connection = connection
        self._topic = topic
        self._batch = False

    def delivery(self, delivery: Delivery) -> None:
        if not self._started:
            self._batch = self._connection.batch
        super().delivery(delivery)

    def _publish(self, encoded: bytes) -> None:
        try:
            messages = split_batch(encoded) if self._batch else [encoded]
        except raw.DecodeError as error:
            raise BadMessage(f"The batch cannot be read: {error}.") from error
        self._connection.service.broker.publishing.publish(self._topic, messages)


class Consumer:
    """A client's receiver on a queue; see `service.Consumer`."""

    def __init__(self, connection: Connection, link: Sender, queue: Queue) -> None:
        self.queue = queue
        self.outlet = connection
        self.deletes = link.remote_snd_settle_mode == Link.SND_SETTLED
        self._service = connection.service
        self._link = link
        self._service.attach(self)

    def room(self) -> int:
        return self._link.credit if self.outlet.has_room(self._link.session) else 0

    def deliver(self, deliveries: list[Handout]) -> None:
        for handout in deliveries:
            send(self._link, handout)

    def drained(self) -> None:
        self._link.drained()

    def flow(self) -> None:
        self._service.ask(self)

    def closed(self) -> None:
        self._service.detach(self)

    def delivery(self, delivery: Delivery) -> None:
        if delivery.remote_state in _SETTLEMENTS:
            answer(delivery, self._settle(delivery), delivery.remote_state)
        elif delivery.settled:
            delivery.settle()  # without an outcome: the lock stays until its time is over

    def _settle(self, delivery: Delivery) -> BrokerError | None:
        try:
            _SETTLEMENTS[delivery.remote_state](self._service.broker, self.queue, delivery)
        except BrokerError as error:
            return error
        return None


def send(link: Sender, handout: Handout) -> None:
    """Transfer a message, settled when it is not locked; the lock token is the delivery tag."""
    token = handout.lock_token
    tag = token.bytes_le if token else handout.sequence_number.to_bytes(16)
    delivery = link.delivery(tag)  # type: ignore[arg-type]  # Proton declares text, takes bytes
    delivery.lock_token = token
    link.stream(handout.encoded)
    link.advance()
    if token is None:
        delivery.settle()


def answer(
    delivery: Delivery, error: BrokerError | None, state: int = Disposition.ACCEPTED
) -> None:
    """Settle a delivery with `state`, or as rejected where there is an error."""
    if error is not None:
        state = Disposition.REJECTED
        delivery.local.condition = Condition(error.condition, str(error), _SOURCE)
    delivery.update(state)
    delivery.settle()


def _complete(broker: Broker, queue: Queue, delivery: Delivery) -> None:
    broker.settlement.complete(queue, delivery.lock_token)


def _release(broker: Broker, queue: Queue, delivery: Delivery) -> None:
    broker.settlement.release(queue, delivery.lock_token)


def _modify(broker: Broker, queue: Queue, delivery: Delivery) -> None:
    settle = broker.settlement.defer if delivery.remote.undeliverable else broker.settlement.abandon
    settle(queue, delivery.lock_token, changes(delivery.remote.annotations))


def _reject(broker: Broker, queue: Queue, delivery: Delivery) -> None:
    condition = delivery.remote.condition
    why = changes(condition.info if condition else None)
    broker.settlement.dead_letter(queue, delivery.lock_token, why)


_SETTLEMENTS: dict[int, Callable[[Broker, Queue, Delivery], None]] = {
    Disposition.ACCEPTED: _complete,
    Disposition.RELEASED: _release,
    Disposition.MODIFIED: _modify,
    Disposition.REJECTED: _reject,
}


def changes(properties: object) -> Changes:
    """Application properties to set, from the map that came with a settlement, if any."""
    if not isinstance(properties, dict):
        return {}
    return {str(name): raw.encode(value) for name, value in properties.items()}
