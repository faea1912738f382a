"""The receiver's side: handing messages out, locked or for good, and looking at them."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID, uuid4

from local.servicebus.clock import Clock
from local.servicebus.entities import Entity, Queue
from local.servicebus.errors import MessageNotFound
from local.servicebus.message import Message, Stamp
from local.servicebus.store import Entry, State, Store


@dataclass(frozen=True)
class Delivery:
    """A message as it is handed out; `lock_token` is None for one that is not locked."""

    sequence_number: int
    lock_token: UUID | None
    encoded: bytes


class Receiving:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def take(self, queue: Queue, count: int, size: int, *, delete: bool) -> list[Delivery]:
        """Lock (or delete) up to `count` messages, oldest first, stopping after `size` bytes."""
        deliveries = []
        for entry in self._ready(queue, count):
            deliveries.append(self._hand_out(queue, entry, delete=delete))
            size -= len(deliveries[-1].encoded)
            if size <= 0:
                break
        return deliveries

    def receive_deferred(
        self, queue: Queue, sequence_numbers: Iterable[int], *, delete: bool
    ) -> list[Delivery]:
        """Lock (or delete) deferred messages by number, all or none; raises MessageNotFound."""
        entries = [self._deferred(queue, number) for number in sequence_numbers]
        return [self._hand_out(queue, entry, delete=delete) for entry in entries]

    def peek(self, entity: Entity, start: int, count: int, size: int) -> list[Delivery]:
        """Up to `count` messages in any state from sequence number `start` on, left as they are.

        Stops after `size` bytes. A topic shows the messages that are scheduled on it.
        """
        deliveries = []
        for entry in self._store.browse(entity.id, start, count):
            deliveries.append(Delivery(entry.sequence_number, None, self._stamped(entry, None)))
            size -= len(deliveries[-1].encoded)
            if size <= 0:
                break
        return deliveries

    def _ready(self, queue: Queue, count: int) -> list[Entry]:
        return self._store.ready(queue.id, self._clock.now(), count)

    def _hand_out(self, queue: Queue, entry: Entry, *, delete: bool) -> Delivery:
        if delete:
            encoded = self._stamped(entry, None)
            self._store.delete(entry.sequence_number)
            return Delivery(entry.sequence_number, None, encoded)
        token = uuid4()
        until = self._clock.now() + queue.lock_duration
        self._store.lock(entry.sequence_number, token, until)
        return Delivery(entry.sequence_number, token, self._stamped(entry, until))

    def _stamped(self, entry: Entry, locked_until: int | None) -> bytes:
        return Message(self._store.content(entry.sequence_number)).stamped(
            Stamp(
                sequence_number=entry.sequence_number,
                enqueued=entry.enqueued,
                delivery_count=entry.delivery_count,
                state=entry.state,
                time_to_live=entry.time_to_live,
                locked_until=locked_until,
            )
        )

    def _deferred(self, queue: Queue, sequence_number: int) -> Entry:
        entry = self._store.find(queue.id, sequence_number)
        if entry is None or entry.state != State.DEFERRED or entry.lock_token is not None:
            raise MessageNotFound(
                f"There is no unlocked deferred message {sequence_number} in '{queue.address}'."
            )
        return entry
