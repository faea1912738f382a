"""The dead-letter queue of a subscription."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from azure.core.exceptions import AzureError
from azure.servicebus import (
    ServiceBusClient,
    ServiceBusReceivedMessage,
    ServiceBusReceiver,
    ServiceBusSubQueue,
)

from shared.adapters.service_bus import PART, PATIENCE, ServiceBusLink
from shared.contracts.incoming import DeadLetter, Incoming
from shared.domain.errors import TransientError

MOST_RECEIVED = 1000
"""Dead letters locked at once while the wanted ones are looked for."""

PAGE = 100
EMPTY_AFTER_SECONDS = 3.0
"""Nothing more comes when nothing came for so long."""


class ServiceBusDeadLetters:
    """Looks at dead letters and takes them, from any thread. `connect` is called on first use."""

    def __init__(
        self,
        connect: Callable[[], ServiceBusClient],
        topic: str,
        subscription: str,
        patience: timedelta = PATIENCE,
    ) -> None:
        client = cache(connect)
        self._name = f"the dead letters of {topic}/{subscription}"
        self._patience = patience

        def receiver() -> ServiceBusReceiver:
            return client().get_subscription_receiver(
                topic, subscription, sub_queue=ServiceBusSubQueue.DEAD_LETTER
            )

        self._receiver = receiver
        self._link = ServiceBusLink[ServiceBusReceiver](receiver, patience)

    def peek(self, after: int, limit: int) -> Sequence[DeadLetter]:
        """The next `limit` behind a sequence number, locked ones included. None is received.

        Raises TransientError.
        """

        def look(receiver: ServiceBusReceiver, seconds: float) -> Sequence[DeadLetter]:
            return _peek(receiver, after, limit, seconds)

        return self._link.run(f"looking at {self._name}", look)

    @contextmanager
    def take(self, wanted: Collection[int]) -> Iterator[Sequence["Taken"]]:
        """Those with the wanted sequence numbers, under lock until the block ends.

        Receiving goes by the order of the queue, so others are locked on the way, and given back
        at once. One that is not completed within the block is given back at its end. Some may be
        missing: gone, locked by someone else, or behind the first MOST_RECEIVED. Giving back
        raises a dead letter's delivery count, which has no bound. Raises TransientError.
        """
        # A link for each block: a message can be settled only on the link that received it.
        link = ServiceBusLink[ServiceBusReceiver](self._receiver, self._patience)
        try:
            taken = link.run(
                f"receiving {self._name}",
                lambda receiver, seconds: _take(receiver, set(wanted), seconds),
            )
            try:
                yield taken
            finally:
                for each in taken:
                    each.give_back()
        finally:
            link.close()

    def close(self) -> None:
        """Close the receiver; looking again opens another one."""
        self._link.close()


@dataclass
class Taken:
    """A dead letter under lock."""

    letter: DeadLetter
    received: ServiceBusReceivedMessage
    receiver: ServiceBusReceiver
    settled: bool = False

    def complete(self) -> None:
        """Take it off the queue. Raises TransientError; it is then there again after its lock."""
        try:
            self.receiver.complete_message(self.received)
        except (AzureError, OSError, ValueError) as error:
            purpose = f"completing the dead letter {self.letter.sequence_number}"
            raise TransientError(PART, f"{purpose}: {type(error).__name__}") from error
        self.settled = True

    def give_back(self) -> None:
        """Unlock it, unless it was completed. A failure is no harm: the lock runs out."""
        if not self.settled:
            self.settled = True
            with suppress(AzureError, OSError, ValueError):
                self.receiver.abandon_message(self.received)


def _peek(
    receiver: ServiceBusReceiver, after: int, limit: int, seconds: float
) -> Sequence[DeadLetter]:
    found: list[DeadLetter] = []
    while len(found) < limit:  # the broker may answer fewer than there are
        behind = found[-1].sequence_number if found else after
        peeked = receiver.peek_messages(
            min(limit - len(found), PAGE), sequence_number=behind + 1, timeout=seconds
        )
        if not peeked:
            break
        found += [_letter(message) for message in peeked]
    return found


def _take(receiver: ServiceBusReceiver, wanted: set[int], seconds: float) -> Sequence[Taken]:
    received: list[Taken] = []
    expected = _messages_up_to(receiver, wanted, seconds)
    while len(received) < expected:
        # Never more than there are: a link with credit left would get back what it gives back.
        batch = receiver.receive_messages(
            expected - len(received), max_wait_time=EMPTY_AFTER_SECONDS
        )
        if not batch:
            break
        received += [Taken(_letter(message), message, receiver) for message in batch]
    for each in received:
        if each.letter.sequence_number not in wanted:
            each.give_back()
    taken = [each for each in received if each.letter.sequence_number in wanted]
    return sorted(taken, key=lambda each: each.letter.sequence_number)


def _messages_up_to(receiver: ServiceBusReceiver, wanted: set[int], seconds: float) -> int:
    """How many must be received until the last of the wanted ones that are there has come."""
    numbers = [0]
    while numbers[-1] < max(wanted) and len(numbers) <= MOST_RECEIVED:
        page = _peek(receiver, numbers[-1], PAGE, seconds)
        if not page:
            break
        numbers += [letter.sequence_number for letter in page]
    last = max(wanted & set(numbers), default=0)
    return sum(0 < number <= last for number in numbers)


def _letter(message: ServiceBusReceivedMessage) -> DeadLetter:
    properties = message.application_properties or {}
    return DeadLetter(
        sequence_number=message.sequence_number or 0,
        message=Incoming(
            body=_body(message),
            properties={_text(key): _plain(value) for key, value in properties.items()},
            enqueued_at=(message.enqueued_time_utc or datetime.now(UTC)).astimezone(UTC),
        ),
        delivery_count=message.delivery_count or 0,
        message_id=message.message_id,
        subject=message.subject,
        correlation_id=message.correlation_id,
        reason=message.dead_letter_reason,
        description=message.dead_letter_error_description,
    )


def _body(message: ServiceBusReceivedMessage) -> bytes:
    """As the trigger gets it: the bytes of a data section, the text of a string value."""
    body = message.body
    if isinstance(body, bytes | str):
        return _as_bytes(body)
    try:
        return b"".join(map(_as_bytes, body))
    except TypeError:
        return b""  # a value that is no text: an empty body is refused like it


def _as_bytes(part: object) -> bytes:
    if isinstance(part, str):
        return part.encode()
    if isinstance(part, bytes):
        return part
    raise TypeError


def _text(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text


def _plain(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
