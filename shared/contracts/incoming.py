"""What comes from a subscription, read: the same for its trigger and for its dead letters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from shared.contracts.file_accepted import FileAccepted, read_file_accepted
from shared.contracts.job_status import StatusReport, read_job_status
from shared.contracts.outgoing import trace_parent_of
from shared.contracts.retry import (
    RESULT_ATTEMPT,
    ExtractionRetryEvent,
    ExtractionRetryResult,
    read_retry_event,
    read_retry_result,
)
from shared.contracts.wire import ContractError


class Source(StrEnum):
    """The four subscriptions of the service, by what arrives on them."""

    ACCEPTED_FILE = "accepted file"
    JOB_STATUS = "job status"
    EXTRACTION_RETRY = "extraction retry"
    EXTRACTION_RESULT = "extraction result"


@dataclass(frozen=True)
class Incoming:
    """A message as received; `enqueued_at` is when the broker took it, aware UTC."""

    body: bytes
    properties: Mapping[str, object]
    enqueued_at: datetime

    def application_property(self, name: str) -> object:
        """An application property by its name in any case; None when it is absent."""
        found = (value for key, value in self.properties.items() if key.lower() == name.lower())
        return next(found, None)

    @property
    def schema_version(self) -> object:
        return self.application_property("schemaVersion")

    @property
    def trace_parent(self) -> str:
        return trace_parent_of(self.application_property("traceparent"))


@dataclass(frozen=True)
class DeadLetter:
    """A message in a dead-letter queue; `reason` and `description` are the broker's."""

    sequence_number: int
    message: Incoming
    delivery_count: int = 0
    message_id: str | None = None
    subject: str | None = None
    correlation_id: str | None = None
    reason: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class AttemptResult:
    """What became of an attempt; its number travels beside the result's body."""

    result: ExtractionRetryResult
    attempt: int


Content = FileAccepted | StatusReport | ExtractionRetryEvent | AttemptResult


def file_accepted(message: Incoming) -> FileAccepted:
    """Raises ContractError, as the other three."""
    return read_file_accepted(message.body, message.schema_version)


def job_status(message: Incoming) -> StatusReport:
    return read_job_status(message.body, message.schema_version)


def retry_event(message: Incoming) -> ExtractionRetryEvent:
    return read_retry_event(message.body, message.enqueued_at, message.schema_version)


def retry_result(message: Incoming) -> AttemptResult:
    return AttemptResult(read_retry_result(message.body, message.schema_version), _attempt(message))


READERS: Mapping[Source, Callable[[Incoming], Content]] = {
    Source.ACCEPTED_FILE: file_accepted,
    Source.JOB_STATUS: job_status,
    Source.EXTRACTION_RETRY: retry_event,
    Source.EXTRACTION_RESULT: retry_result,
}


def _attempt(message: Incoming) -> int:
    given = message.application_property(RESULT_ATTEMPT)
    text = str(1 if given is None else given).strip()
    if not text.isdecimal() or int(text) < 1:
        raise ContractError("contract_broken", f"{RESULT_ATTEMPT} must be a number from 1 on")
    return int(text)
