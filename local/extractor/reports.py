"""What the extractor reports: CloudEvents on the job status topic, repeated until accepted."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender
from azure.servicebus.exceptions import ServiceBusError

from local.extractor.jobs import Job

logger = logging.getLogger(__name__)

SCHEMA_VERSION = "1.0"
SOURCE = "/extractors/sample"
MAX_ERROR_CHARACTERS = 4000
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0  # seconds between two tries of one report
_SEND_TIMEOUT = 10.0  # seconds


@dataclass(frozen=True)
class Report:
    """One status of one job.

    `message_id` is the same for every repeat, so that a repeat does no harm; `type` is JobStarted,
    JobSucceeded or JobFailed; `fields` are the type's own, besides JobID and Timestamp.
    """

    message_id: str
    job_id: UUID
    type: str
    time: datetime
    fields: Mapping[str, Any]
    trace_parent: str | None = None

    def envelope(self) -> dict[str, Any]:
        """The structured JSON form of CloudEvents 1.0."""
        time = format_time(self.time)
        return {
            "specversion": "1.0",
            "id": self.message_id,
            "source": SOURCE,
            "type": self.type,
            "subject": str(self.job_id),
            "time": time,
            "datacontenttype": "application/json",
            "schemaversion": SCHEMA_VERSION,
            "data": {"JobID": str(self.job_id), "Timestamp": time, **self.fields},
        }


def started(job: Job, time: datetime) -> Report:
    """Work on the job has begun."""
    return _report(job, "Started", time)


def succeeded(job: Job, time: datetime, summary: Mapping[str, Any]) -> Report:
    """The job is done. `summary` holds counts and facts, 16 KB of JSON at most, no values."""
    return _report(job, "Succeeded", time, ResultSummary=summary)


def failed(job: Job, time: datetime, message: str) -> Report:
    """The job cannot be done; `message` says why to people."""
    return _report(job, "Failed", time, ErrorMessage=message[:MAX_ERROR_CHARACTERS])


def message_id(job_id: UUID, status: str) -> str:
    """`jobId:Status`."""
    return f"{job_id}:{status}"


def _report(job: Job, status: str, time: datetime, **fields: Any) -> Report:
    identity = message_id(job.job_id, status)
    return Report(identity, job.job_id, f"Job{status}", time, fields, job.trace_parent)


def format_time(time: datetime) -> str:
    """`2024-01-01T00:00:00.000Z`: UTC, always with milliseconds."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ReportNotAcceptedError(Exception):
    """The broker could not be reached, or did not take the report; to be tried again."""


type Send = Callable[[Report], Coroutine[None, None, None]]
"""One try to hand a report over. Raises ReportNotAcceptedError."""


def until_accepted(send: Send) -> Send:
    """`send` repeated with growing pauses for as long as it takes."""

    async def repeat(report: Report) -> None:
        for pause in _pauses():
            try:
                await send(report)
            except ReportNotAcceptedError as error:
                logger.warning("report %s not accepted yet: %s", report.message_id, error)
                await asyncio.sleep(pause)
            else:
                logger.info("reported %s", report.message_id)
                return

    return repeat


def _pauses() -> Iterator[float]:
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)


class StatusTopic:
    """The job status topic of a Service Bus namespace, connected to when the first report comes."""

    def __init__(self, connection_string: str, topic: str) -> None:
        self._connection_string = connection_string
        self._topic = topic
        self._client: ServiceBusClient | None = None
        self._sender: ServiceBusSender | None = None
        self._one_at_a_time = asyncio.Lock()  # a sender of the SDK is not safe for use side by side

    async def send(self, report: Report) -> None:
        """Send once. Raises ReportNotAcceptedError."""
        message = _message(report)
        async with self._one_at_a_time:
            try:
                await self._connected().send_messages(message, timeout=_SEND_TIMEOUT)
            except (ServiceBusError, OSError) as error:
                await self.close()
                raise ReportNotAcceptedError(str(error)) from error

    async def close(self) -> None:
        """Let go of the connection; the next report makes another."""
        client, self._client, self._sender = self._client, None, None
        if client is not None:
            await client.close()

    def _connected(self) -> ServiceBusSender:
        if self._client is None or self._sender is None:
            self._client = ServiceBusClient.from_connection_string(
                self._connection_string, retry_total=0
            )
            self._sender = self._client.get_topic_sender(self._topic)
        return self._sender


def _message(report: Report) -> ServiceBusMessage:
    properties: dict[str | bytes, Any] = {"schemaVersion": SCHEMA_VERSION}
    if report.trace_parent:
        properties["traceparent"] = report.trace_parent
    return ServiceBusMessage(
        json.dumps(report.envelope(), ensure_ascii=False),
        content_type="application/json",
        subject=report.type,
        message_id=report.message_id,
        correlation_id=str(report.job_id),
        application_properties=properties,
    )
