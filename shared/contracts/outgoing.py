"""A message as it waits in the outbox, and how job statuses become one."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.contracts.envelope import make_envelope
from shared.contracts.job_status import JobStatusMessage, message_id, status_of
from shared.contracts.wire import SCHEMA_VERSION
from shared.domain.errors import PermanentError

MESSAGE_SIZE_LIMIT = 250_000
"""Bytes of body and properties; the broker's own bound is 256 KB with its headers."""


class MessageTooLargeError(PermanentError):
    """A message that the broker would refuse; raised before anything is written or sent."""


@dataclass(frozen=True)
class OutgoingMessage:
    """What goes out on a topic. `subject` is the message type, `not_before` a scheduled time (UTC).

    `message_id` is deterministic, so that sending twice is one message to whoever deduplicates.
    """

    topic: str
    message_id: str
    subject: str
    body: str
    correlation_id: str
    properties: dict[str, Any] = field(default_factory=dict)
    not_before: datetime | None = None

    def __post_init__(self) -> None:
        size = len(self.body.encode()) + sum(
            len(str(name)) + len(str(value).encode()) for name, value in self.properties.items()
        )
        if size > MESSAGE_SIZE_LIMIT:
            raise MessageTooLargeError(
                "message_too_large",
                f"{self.subject} {self.message_id} takes {size} bytes; at most"
                f" {MESSAGE_SIZE_LIMIT} fit",
            )


def job_status_message(
    data: JobStatusMessage, topic: str, trace_parent: str, properties: dict[str, Any] | None = None
) -> OutgoingMessage:
    """The message that announces a job's status under its one id."""
    identity = message_id(data.JobID, status_of(data))
    return OutgoingMessage(
        topic=topic,
        message_id=identity,
        subject=type(data).__name__,
        body=make_envelope(data, identity, str(data.JobID), data.Timestamp),
        correlation_id=str(data.JobID),
        properties={
            "schemaVersion": SCHEMA_VERSION,
            "traceparent": trace_parent,
            **(properties or {}),
        },
    )


def trace_parent_of(incoming: object) -> str:
    """The incoming W3C `traceparent` when it is one, else a fresh one."""
    text = str(incoming or "").strip().lower()
    parts = text.split("-")
    if len(text) == 55 and [len(part) for part in parts] == [2, 32, 16, 2] and _is_hex(parts):
        return text
    return f"00-{uuid.uuid4().hex}-{uuid.uuid4().hex[:16]}-01"


def _is_hex(parts: list[str]) -> bool:
    return all(set(part) <= set("0123456789abcdef") for part in parts) and parts[0] != "ff"
