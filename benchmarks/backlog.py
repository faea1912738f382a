"""What waits in the service's subscriptions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from azure.servicebus import ServiceBusClient, ServiceBusReceiver, ServiceBusSubQueue

from local.supervisor.environment import TOPICS

KINDS = ("ACCEPTED_FILE", "JOB_STATUS", "EXTRACTION_RETRY", "EXTRACTION_RESULT")
PAGE = 250


class Backlog:
    """Looks at messages without taking them: those that wait, and those under lock."""

    def __init__(
        self, waiting: Mapping[str, ServiceBusReceiver], dead: Sequence[ServiceBusReceiver]
    ) -> None:
        self._waiting = waiting
        self._dead = dead

    def counts(self) -> Mapping[str, int]:
        """How many messages each topic's subscription holds."""
        return {topic: _count(receiver) for topic, receiver in self._waiting.items()}

    def dead_letters(self) -> int:
        """How many messages were given up."""
        return sum(_count(receiver) for receiver in self._dead)

    def is_empty(self) -> bool:
        """Whether there is no message in any of them."""
        receivers = self._waiting.values()
        return not any(receiver.peek_messages(1, sequence_number=1) for receiver in receivers)


@contextmanager
def watched_backlog(bus: str) -> Iterator[Backlog]:
    """Connect to all four subscriptions and their dead-letter queues."""
    with ExitStack() as held:
        client = held.enter_context(ServiceBusClient.from_connection_string(bus))
        waiting = {}
        dead = []
        for kind in KINDS:
            names = TOPICS[f"TOPIC_{kind}"], TOPICS[f"SUBSCRIPTION_{kind}"]
            queue = client.get_subscription_receiver(*names)
            waiting[names[0]] = held.enter_context(queue)
            given_up = client.get_subscription_receiver(
                *names, sub_queue=ServiceBusSubQueue.DEAD_LETTER
            )
            dead.append(held.enter_context(given_up))
        yield Backlog(waiting, dead)


def _count(receiver: ServiceBusReceiver) -> int:
    count, following = 0, 1
    while page := receiver.peek_messages(PAGE, sequence_number=following):
        count += len(page)
        following = (page[-1].sequence_number or 0) + 1
    return count
