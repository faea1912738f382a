"""The five messages of the `job-status` topic, field for field as specified."""

import json
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BeforeValidator

from shared.contracts.envelope import read_envelope
from shared.contracts.wire import Contract, ContractError
from shared.domain.jobs import JobStatus, cut_message

RESULT_SUMMARY_LIMIT = 16 * 1024
"""Bytes of JSON that a `ResultSummary` may take."""


def _bounded_summary(summary: Any) -> Any:
    if summary is not None and not isinstance(summary, dict | str):
        raise ValueError("must be a JSON object or text")
    if len(json.dumps(summary, ensure_ascii=False).encode()) > RESULT_SUMMARY_LIMIT:
        raise ValueError("must not be larger than 16 KB")
    return summary


def _as_text(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else json.dumps(value)


Summary = Annotated[dict[str, Any] | str | None, BeforeValidator(_bounded_summary)]
ErrorText = Annotated[str, BeforeValidator(_as_text), AfterValidator(cut_message)]


class JobQueued(Contract):
    """A job was made. `ExtractorID` is null when the client has no active extractor."""

    JobID: UUID
    FileID: UUID
    ExtractorID: int | None
    Timestamp: AwareDatetime


class JobStarted(Contract):
    """The extractor has begun."""

    JobID: UUID
    Timestamp: AwareDatetime


class JobSucceeded(Contract):
    """The extractor has finished. `ResultSummary` holds counts and facts, never personal data."""

    JobID: UUID
    Timestamp: AwareDatetime
    ResultSummary: Summary = None


class JobFailed(Contract):
    """The job has failed. `ErrorMessage` is for people, cut at 4,000 characters."""

    JobID: UUID
    Timestamp: AwareDatetime
    ErrorMessage: ErrorText = ""


class JobCancelled(Contract):
    """An operator has cancelled the job."""

    JobID: UUID
    Timestamp: AwareDatetime
    Reason: str


JobStatusMessage = JobQueued | JobStarted | JobSucceeded | JobFailed | JobCancelled

MESSAGE_TYPES: dict[JobStatus, type[JobStatusMessage]] = {
    JobStatus.QUEUED: JobQueued,
    JobStatus.STARTED: JobStarted,
    JobStatus.SUCCEEDED: JobSucceeded,
    JobStatus.FAILED: JobFailed,
    JobStatus.CANCELLED: JobCancelled,
}
_STATUSES = {model.__name__: status for status, model in MESSAGE_TYPES.items()}


def status_of(message: JobStatusMessage) -> JobStatus:
    """The status that a message announces."""
    return _STATUSES[type(message).__name__]


def message_id(job_id: UUID, status: JobStatus) -> str:
    """The one id under which a status of a job is announced, however often: `jobId:Status`."""
    return f"{job_id}:{status}"


@dataclass(frozen=True)
class StatusReport:
    """A message of the `job-status` topic as read; `raw` is its whole `data` as JSON text."""

    message: JobStatusMessage
    raw: str

    @property
    def job_id(self) -> UUID:
        return self.message.JobID

    @property
    def status(self) -> JobStatus:
        return status_of(self.message)

    @property
    def text(self) -> str | None:
        """What the message says to people: why the job failed or was cancelled."""
        if isinstance(self.message, JobFailed):
            return self.message.ErrorMessage or "The extractor gave no reason"
        return self.message.Reason if isinstance(self.message, JobCancelled) else None


def read_job_status(body: bytes, schema_version: object = None) -> StatusReport:
    """Read a message of the `job-status` topic. Raises ContractError.

    `schema_version` is the message's application property; the envelope may carry its own.
    """
    envelope = read_envelope(body, schema_version)
    status = _STATUSES.get(envelope.type)
    if status is None:
        raise ContractError("type_unknown", f"type must be one of {', '.join(_STATUSES)}")
    message = MESSAGE_TYPES[status].read(envelope.data)
    return StatusReport(message, json.dumps(envelope.data, ensure_ascii=False))
