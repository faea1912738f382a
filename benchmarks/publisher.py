"""Processor time for a message through our publisher, against the bare SDK.

Once with a sender that does nothing, which shows all that the publisher adds, and once on the local
Service Bus. Both ways build the same message, and take turns in this one process.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any, Self, cast
from uuid import uuid4

from azure.servicebus import ServiceBusClient, ServiceBusMessage

from benchmarks.report import show_circumstances, show_table
from local.settings import LocalSettings
from local.supervisor.environment import TOPICS, service_bus_connection
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import Part
from local.supervisor.stack import Stack
from shared.adapters.publisher import ServiceBusPublisher
from shared.adapters.service_bus import client_from_connection_string
from shared.contracts.job_status import JobSucceeded
from shared.contracts.outgoing import OutgoingMessage, job_status_message, trace_parent_of

TOPIC = TOPICS["TOPIC_EXTRACTION_RESULT"]
ROUNDS = 21
MESSAGES_WITHOUT_BROKER = 3_000
MESSAGES_TO_BROKER = 300
"""Messages in one round of one way."""

SEND_SECONDS = 5.0

_SUMMARY = {"pages": 12, "characters": 20_480, "found": {"date": 7, "amount": 31, "iban": 1}}
MESSAGE = job_status_message(
    JobSucceeded(JobID=uuid4(), Timestamp=datetime.now(UTC), ResultSummary=_SUMMARY),
    TOPIC,
    trace_parent_of(None),
)
"""What is sent again and again, under another message id each time."""

type Send = Callable[[str], None]
"""Builds and sends the message with this id."""


class StubClient:
    """A Service Bus that takes everything and does nothing."""

    def get_topic_sender(self, _topic: str) -> Self:
        return self

    def send_messages(self, _message: ServiceBusMessage, timeout: float) -> None:
        """Done."""

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> Self:
        return self


def main() -> None:
    """Measure both ways on both, and print them."""
    show_circumstances()
    rows = [_measured("stub sender", cast(ServiceBusClient, StubClient()), MESSAGES_WITHOUT_BROKER)]
    with tempfile.TemporaryDirectory() as folder:
        settings = with_free_ports(Path(folder) / "data")
        with (
            Stack(settings, plan=_only_service_bus),
            client_from_connection_string(service_bus_connection(settings)) as client,
        ):
            rows.append(_measured("local Service Bus", client, MESSAGES_TO_BROKER))
    show_table(
        f"Processor time for each message, {ROUNDS} rounds of each way by turns",
        ("through", "messages a round", "bare SDK", "publisher", "added", "ratio"),
        rows,
    )


def _only_service_bus(settings: LocalSettings) -> Sequence[Sequence[Part]]:
    parts = [part for step in plan_embedded_azure(settings) for part in step]
    return [[part for part in parts if part.name == "servicebus"]]


def _measured(name: str, client: ServiceBusClient, messages: int) -> Sequence[str]:
    bare, ours = _through_sdk(client), _through_publisher(client)
    ids = (f"{uuid4()}:Succeeded" for _ in count())
    for send in (bare, ours):
        send(next(ids))  # opens the link
    turns = [
        (_microseconds(bare, ids, messages), _microseconds(ours, ids, messages))
        for _ in range(ROUNDS)
    ]
    typical_bare, typical_ours = (median(times) for times in zip(*turns, strict=True))
    return (
        name,
        f"{messages:,}",
        f"{typical_bare:.1f} µs",
        f"{typical_ours:.1f} µs",
        f"{median(ours - bare for bare, ours in turns):.1f} µs",
        f"{median(ours / bare for bare, ours in turns):.2f}",
    )


def _microseconds(send: Send, ids: Iterator[str], messages: int) -> float:
    """Processor time of this process for one message, all its threads together."""
    batch = list(islice(ids, messages))
    begun = time.process_time()
    for message_id in batch:
        send(message_id)
    return (time.process_time() - begun) / messages * 1e6


def _through_sdk(client: ServiceBusClient) -> Send:
    sender = client.get_topic_sender(TOPIC)
    properties: dict[str | bytes, Any] = dict(MESSAGE.properties.items())

    def send(message_id: str) -> None:
        message = ServiceBusMessage(
            MESSAGE.body,
            message_id=message_id,
            subject=MESSAGE.subject,
            correlation_id=MESSAGE.correlation_id,
            content_type="application/json",
            application_properties=properties,
        )
        sender.send_messages(message, timeout=SEND_SECONDS)

    return send


def _through_publisher(client: ServiceBusClient) -> Send:
    publisher = ServiceBusPublisher(lambda: client)

    def send(message_id: str) -> None:
        publisher.publish(
            OutgoingMessage(
                TOPIC,
                message_id,
                MESSAGE.subject,
                MESSAGE.body,
                MESSAGE.correlation_id,
                MESSAGE.properties,
            )
        )

    return send


if __name__ == "__main__":
    main()
