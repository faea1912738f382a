"""What ends a lock: settlement by its holder, or time; and the way into the dead-letter queue."""

from collections.abc import Iterable
from uuid import UUID

from local.servicebus import raw
from local.servicebus.clock import Clock
from local.servicebus.entities import DeadLetterQueue, Queue, SubscriptionQueue
from local.servicebus.errors import LockLost, NotAllowed
from local.servicebus.message import Message
from local.servicebus.store import Entry, State, Store

EXPIRED_REASON = "TTLExpiredException"
EXPIRED_DESCRIPTION = "The message expired and was dead lettered."
DELIVERIES_REASON = "MaxDeliveryCountExceeded"
DELIVERIES_DESCRIPTION = "Message could not be consumed after {} delivery attempts."
"""Azure's words for what it dead-letters by itself."""

REASON_PROPERTY = "DeadLetterReason"
DESCRIPTION_PROPERTY = "DeadLetterErrorDescription"

type Changes = dict[str, bytes]
"""Application properties to set, by name, with encoded values."""


class Settlement:
    """Adds to `ready` the id of every queue that got a message back.

    Everything that takes a lock token raises LockLost when the message is not, or no longer,
    locked with it. Who the holder was does not matter, nor whether its connection lives.
    """

    def __init__(self, store: Store, clock: Clock, ready: set[int]) -> None:
        self._store = store
        self._clock = clock
        self._ready = ready

    def held(self, queue: Queue, token: UUID) -> Entry:
        """The message of `queue` that is locked with `token`."""
        entry = self._store.locked(queue.id, token)
        if entry is None or entry.due is None or entry.due <= self._clock.now():
            raise LockLost(
                "The lock supplied is invalid. Either the lock expired, or the message has "
                f"already been removed from '{queue.address}'."
            )
        return entry

    def renew(self, queue: Queue, tokens: Iterable[UUID]) -> list[int]:
        """Extend locks, all or none, by the lock duration from now; answers when each ends."""
        held = [(self.held(queue, token), token) for token in tokens]
        until = self._clock.now() + queue.lock_duration
        for entry, token in held:
            self._store.lock(entry.sequence_number, token, until)
        return [until] * len(held)

    def complete(self, queue: Queue, token: UUID) -> None:
        self._store.delete(self.held(queue, token).sequence_number)

    def release(self, queue: Queue, token: UUID) -> None:
        """Give the message back as if it had not been delivered."""
        self._give_back(queue, self.held(queue, token), failed=False)

    def abandon(self, queue: Queue, token: UUID, changes: Changes) -> None:
        """Give the message back, one delivery older."""
        entry = self.held(queue, token)
        self._change(entry, changes)
        self._give_back(queue, entry, failed=True)

    def defer(self, queue: Queue, token: UUID, changes: Changes) -> None:
        """Set the message aside: only who knows its sequence number can receive it."""
        entry = self.held(queue, token)
        self._change(entry, changes)
        self._store.unlock(entry, State.DEFERRED, entry.delivery_count)

    def dead_letter(self, queue: Queue, token: UUID, changes: Changes) -> None:
        """Give the message up; `changes` say why, under the two property names above.

        Raises NotAllowed in a dead-letter queue, whose messages can only be completed.
        """
        entry = self.held(queue, token)
        if isinstance(queue, DeadLetterQueue):
            raise NotAllowed(f"A message of '{queue.address}' cannot be dead-lettered again.")
        self._bury(queue, entry, changes)

    def end_lock(self, queue: Queue, entry: Entry) -> None:
        """Take a message back whose lock time is over."""
        self._give_back(queue, entry, failed=True)

    def expire(self, queue: SubscriptionQueue, entry: Entry) -> None:
        """Dead-letter or drop an unlocked message whose time to live is over."""
        if queue.settings.dead_letter_on_expiration:
            why = _why(EXPIRED_REASON, EXPIRED_DESCRIPTION)
            self._bury(queue, entry, why)
        else:
            self._store.delete(entry.sequence_number)

    def _change(self, entry: Entry, changes: Changes) -> None:
        if changes:
            message = Message(self._store.content(entry.sequence_number))
            content = message.with_application_properties(changes)
            self._store.rewrite(entry.sequence_number, content)

    def _give_back(self, queue: Queue, entry: Entry, *, failed: bool) -> None:
        returned = entry._replace(delivery_count=entry.delivery_count + int(failed))
        if isinstance(queue, DeadLetterQueue):
            self._unlock(queue, returned)
        elif failed and returned.delivery_count >= queue.settings.max_delivery_count:
            description = DELIVERIES_DESCRIPTION.format(returned.delivery_count)
            why = _why(DELIVERIES_REASON, description)
            self._bury(queue, returned, why)
        elif self._has_expired(returned):
            self.expire(queue, returned)
        else:
            self._unlock(queue, returned)

    def _unlock(self, queue: Queue, entry: Entry) -> None:
        self._store.unlock(entry, State(entry.state), entry.delivery_count)
        self._ready.add(queue.id)

    def _has_expired(self, entry: Entry) -> bool:
        return (
            entry.state == State.ACTIVE
            and entry.expires is not None
            and entry.expires <= self._clock.now()
        )

    def _bury(self, queue: SubscriptionQueue, entry: Entry, why: Changes) -> None:
        message = Message(self._store.content(entry.sequence_number))
        self._store.move(
            entry.sequence_number,
            queue.dead_letters.id,
            entry.delivery_count,
            message.with_application_properties(why),
        )
        self._ready.add(queue.dead_letters.id)


def _why(reason: str, description: str) -> Changes:
    return {
        REASON_PROPERTY: raw.string(reason),
        DESCRIPTION_PROPERTY: raw.string(description),
    }
