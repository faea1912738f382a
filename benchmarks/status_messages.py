"""Job status messages as extractors send them: in order, again, and too late."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import batched
from typing import Any
from uuid import UUID

from azure.servicebus import ServiceBusMessage, ServiceBusSender

from benchmarks.arrivals import arrivals, keep_to
from local.supervisor.environment import TOPICS
from shared.contracts.job_status import JobStarted, JobStatusMessage, JobSucceeded
from shared.contracts.outgoing import OutgoingMessage, job_status_message, trace_parent_of

TOPIC = TOPICS["TOPIC_JOB_STATUS"]
EACH = 4
"""Messages of each job: its start, its end, the end once more, and the start once more."""


@dataclass(frozen=True)
class Planned:
    """A message to be sent; what comes again has an id of its own, or the broker would drop it."""

    job_id: UUID
    succeeded: bool
    again: bool

    def made(self) -> OutgoingMessage:
        """The message, at this moment."""
        kind: Callable[..., JobStatusMessage] = JobSucceeded if self.succeeded else JobStarted
        report = kind(JobID=self.job_id, Timestamp=datetime.now(UTC))
        message = job_status_message(report, TOPIC, trace_parent_of(None))
        suffix = ":again" if self.again else ""
        return replace(message, message_id=message.message_id + suffix)


def plan_messages(job_ids: Sequence[UUID], at_once: int) -> Iterator[Planned]:
    """The messages of all jobs; so many jobs are under way side by side.

    A job's end follows all starts of its group, and so on: half of all changes nothing.
    """
    for group in batched(job_ids, at_once, strict=False):
        for succeeded, again in ((False, False), (True, False), (True, True), (False, True)):
            yield from (Planned(job_id, succeeded, again) for job_id in group)


def send_planned(sender: ServiceBusSender, planned: Sequence[Planned], per_second: float) -> float:
    """Send each at its time; how many were sent in a second."""
    begun = time.perf_counter()

    def arrive(number: int, _due: float) -> None:
        sender.send_messages(as_sent(planned[number].made()))

    keep_to(arrivals(per_second, len(planned) / per_second), arrive)
    return len(planned) / (time.perf_counter() - begun)


def as_sent(message: OutgoingMessage) -> ServiceBusMessage:
    """The SDK's form of a message."""
    properties: dict[str | bytes, Any] = dict(message.properties.items())
    return ServiceBusMessage(
        message.body,
        message_id=message.message_id,
        subject=message.subject,
        correlation_id=message.correlation_id,
        content_type="application/json",
        application_properties=properties,
    )
