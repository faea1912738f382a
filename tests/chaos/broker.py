"""What the broker holds: every announcement ever made, dead letters, and what still waits."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusSubQueue

from local.supervisor.environment import TOPICS

OBSERVER = "chaos-observer"
"""A subscription on job statuses that nobody empties: it keeps them in the order they came."""

KINDS = ("ACCEPTED_FILE", "JOB_STATUS", "EXTRACTION_RETRY", "EXTRACTION_RESULT")
SUBSCRIPTIONS = [(TOPICS[f"TOPIC_{kind}"], TOPICS[f"SUBSCRIPTION_{kind}"]) for kind in KINDS]
PAGE = 250


@dataclass(frozen=True)
class Announced:
    """A job status message; `number` is the broker's own, in the order of arrival."""

    number: int
    message_id: str
    job_id: str
    status: str
    source: str


@dataclass(frozen=True)
class Kept:
    """A message that lies in a subscription or in its dead-letter queue."""

    subscription: str
    message_id: str

    def __str__(self) -> str:
        return f"{self.message_id} in {self.subscription}"


class BrokerView:
    """Looks at messages and takes none."""

    def __init__(self, connection_string: str) -> None:
        self._connection_string = connection_string

    def announcements(self) -> Sequence[Announced]:
        """All job status messages that can be read, in the order in which the broker got them."""
        messages = self._peek(TOPICS["TOPIC_JOB_STATUS"], OBSERVER)
        return [found for each in messages if (found := _announced(each))]

    def dead_letters(self) -> Sequence[Kept]:
        """Every dead letter of the service."""
        return self._peek_all(ServiceBusSubQueue.DEAD_LETTER)

    def waiting(self) -> Sequence[Kept]:
        """Every message that the service has not finished with, locked ones included."""
        return self._peek_all(None)

    def _peek_all(self, queue: ServiceBusSubQueue | None) -> Sequence[Kept]:
        # Side by side: the SDK takes half a second to open a link, and as long to close it.
        with ThreadPoolExecutor() as threads:
            looking = [
                (subscription, threads.submit(self._peek, topic, subscription, queue))
                for topic, subscription in SUBSCRIPTIONS
            ]
            return [
                Kept(subscription, str(message.message_id))
                for subscription, messages in looking
                for message in messages.result()
            ]

    def _peek(
        self, topic: str, subscription: str, queue: ServiceBusSubQueue | None = None
    ) -> Sequence[ServiceBusReceivedMessage]:
        found: list[ServiceBusReceivedMessage] = []
        with (
            ServiceBusClient.from_connection_string(self._connection_string) as client,
            client.get_subscription_receiver(topic, subscription, sub_queue=queue) as receiver,
        ):
            after = 0
            while page := receiver.peek_messages(PAGE, sequence_number=after + 1):
                found += page
                after = page[-1].sequence_number or 0
        return found


def _announced(message: ServiceBusReceivedMessage) -> Announced | None:
    try:
        envelope = json.loads(b"".join(message.body))
        data = envelope["data"]
        return Announced(
            number=message.sequence_number or 0,
            message_id=str(message.message_id),
            job_id=data["JobID"],
            status=envelope["type"].removeprefix("Job"),
            source=envelope["source"],
        )
    except (ValueError, KeyError, AttributeError):
        return None  # it was sent to be refused
