"""The topic's side: accepting messages, duplicate detection, schedules, and the rules."""

from collections.abc import Iterable
from uuid import uuid4

from local.servicebus.clock import Clock
from local.servicebus.entities import TopicEntity
from local.servicebus.errors import BadMessage, MessageNotFound, MessageTooLarge
from local.servicebus.message import LARGEST_MESSAGE, Message
from local.servicebus.raw import DecodeError
from local.servicebus.store import Entry, State, Store


class Publishing:
    """Adds to `ready` the id of every queue that got a message."""

    def __init__(self, store: Store, clock: Clock, ready: set[int]) -> None:
        self._store = store
        self._clock = clock
        self._ready = ready

    def publish(self, topic: TopicEntity, messages: Iterable[bytes]) -> list[int]:
        """Accept all of `messages` or none; raises BadMessage or MessageTooLarge.

        Answers a number for each: the sequence number of one that waits on the topic for its
        time, 0 for one that is on its way to the subscriptions or dropped as a duplicate.
        """
        accepted = [_checked(encoded) for encoded in messages]
        return [self._accept(topic, message) for message in accepted]

    def cancel(self, topic: TopicEntity, sequence_numbers: Iterable[int]) -> None:
        """Take back scheduled messages, all or none; raises MessageNotFound."""
        entries = [self._scheduled(topic, number) for number in sequence_numbers]
        for entry in entries:
            self._store.delete(entry.sequence_number)

    def publish_scheduled(self, topic: TopicEntity, entry: Entry) -> None:
        """Hand a scheduled message whose time has come to the subscriptions."""
        self._fan_out(topic, Message(self._store.content(entry.sequence_number)))
        self._store.delete(entry.sequence_number)

    def _accept(self, topic: TopicEntity, message: Message) -> int:
        if self._is_duplicate(topic, message):
            return 0
        if message.message_id is None:
            # As Azure does: the Node client cannot renew the lock of a message without id.
            message = Message(message.with_message_id(uuid4().hex))
        now = self._clock.now()
        scheduled = message.scheduled_for
        if scheduled is not None and scheduled > now:
            return self._store.add(
                topic.id, message.encoded, state=State.SCHEDULED, enqueued=now, due=scheduled
            )
        self._fan_out(topic, message)
        return 0

    def _is_duplicate(self, topic: TopicEntity, message: Message) -> bool:
        window = topic.settings.duplicate_window
        if window is None or message.message_id is None:
            return False
        now = self._clock.now()
        if self._store.seen(topic.id, message.message_id, now):
            return True
        self._store.remember(topic.id, message.message_id, now + window)
        return False

    def _fan_out(self, topic: TopicEntity, message: Message) -> None:
        now = self._clock.now()
        for queue in topic.queues:
            rules = queue.settings.rules
            if rules and not any(rule.matches(message) for rule in rules):
                continue
            time_to_live = _shortest(
                message.time_to_live, topic.settings.time_to_live, queue.settings.time_to_live
            )
            self._store.add(
                queue.id,
                message.encoded,
                state=State.ACTIVE,
                enqueued=now,
                due=None if time_to_live is None else now + time_to_live,
                time_to_live=time_to_live,
            )
            self._ready.add(queue.id)

    def _scheduled(self, topic: TopicEntity, sequence_number: int) -> Entry:
        entry = self._store.find(topic.id, sequence_number)
        if entry is None:
            raise MessageNotFound(
                f"There is no scheduled message {sequence_number} in '{topic.address}'."
            )
        return entry


def _shortest(*times: int | None) -> int | None:
    return min((time for time in times if time is not None), default=None)


def _checked(encoded: bytes) -> Message:
    if len(encoded) > LARGEST_MESSAGE:
        raise MessageTooLarge(
            f"The message has {len(encoded)} bytes; {LARGEST_MESSAGE} are allowed."
        )
    try:
        message = Message(encoded)
        message.check()
    except DecodeError as error:
        raise BadMessage(f"The message cannot be read: {error}.") from error
    return message
