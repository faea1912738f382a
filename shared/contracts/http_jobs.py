"""Requests about jobs and files, and their answers."""

import base64
import binascii
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from shared.contracts.http import Body, Moment, Parameters
from shared.contracts.http_answers import Answer, Timestamp
from shared.contracts.job_status import Summary
from shared.domain.job_search import JobFilter, Place
from shared.domain.jobs import JobStatus, cut_message

LARGEST_PAGE = 200
REPORTED = ("Started", "Succeeded", "Failed")


def _read_place(cursor: str) -> str:
    read_place(cursor)
    return cursor


def _reported_status(value: object) -> object:
    if value not in REPORTED:
        raise ValueError(f"must be one of {', '.join(REPORTED)}")
    return JobStatus(str(value))


class JobsQuery(Parameters):
    """Which jobs to list, newest first. Since is included, until is not."""

    status: JobStatus | None = None
    fileId: UUID | None = None
    clientApplicationId: Annotated[str, Field(max_length=64)] | None = None
    extractorId: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    requestId: Annotated[str, Field(max_length=64)] | None = None
    createdSince: Moment | None = None
    createdUntil: Moment | None = None
    updatedSince: Moment | None = None
    updatedUntil: Moment | None = None
    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = 50
    cursor: Annotated[str, AfterValidator(_read_place)] | None = None

    @property
    def filter(self) -> JobFilter:
        return JobFilter(
            status=self.status,
            file_id=self.fileId,
            client_application_id=self.clientApplicationId,
            extractor_id=self.extractorId,
            request_id=self.requestId,
            created_since=self.createdSince,
            created_until=self.createdUntil,
            updated_since=self.updatedSince,
            updated_until=self.updatedUntil,
        )

    @property
    def after(self) -> Place | None:
        return read_place(self.cursor) if self.cursor else None


class JobPath(Parameters):
    """Which job."""

    jobId: UUID


class FilePathById(Parameters):
    """Which file, by its FileID."""

    fileId: UUID


class CancelRequest(Body):
    """Why to cancel a job."""

    reason: Annotated[str, Field(min_length=1, max_length=500)]


class CallbackRequest(Body):
    """What an extractor says of its job."""

    status: Annotated[
        JobStatus,
        BeforeValidator(_reported_status),
        WithJsonSchema({"type": "string", "enum": list(REPORTED)}),
    ]
    resultSummary: Summary = None
    errorMessage: Annotated[str, AfterValidator(cut_message)] | None = None


class CallbackAnswer(Answer):
    """The report was taken."""

    jobId: str
    status: JobStatus


class JobSummary(Answer):
    """A job's row."""

    jobId: str
    fileId: str
    extractorId: int | None = None
    status: JobStatus
    message: str | None = None
    attempt: int
    requestId: str | None = None
    createdAt: Timestamp
    updatedAt: Timestamp
    completedAt: Timestamp | None = None


class JobsAnswer(Answer):
    """A page of jobs, the counts of all that fit, and the cursor of the next page."""

    jobs: list[JobSummary]
    counts: dict[JobStatus, int]
    nextCursor: str | None = None


class EventAnswer(Answer):
    """One thing that is written down of a file."""

    at: Timestamp
    kind: str
    source: str
    jobId: str | None = None
    requestId: str | None = None
    actor: str | None = None
    detail: dict[str, Any]


class CallAnswer(Answer):
    """How the call of the extractor stands."""

    tries: int
    firstTriedAt: Timestamp | None = None
    takenAt: Timestamp | None = None
    lastError: str | None = None


class AskedByAnswer(Answer):
    """A retry request that touched the job."""

    requestId: str
    retryAttempt: int
    fileId: str
    outcome: str


class NextAnswer(Answer):
    """What happens next by itself, and when."""

    what: str
    at: Timestamp | None = None


class JobAnswer(JobSummary):
    """A job with everything known of it; `attempts` are all jobs of its file."""

    extractorResponse: str | None = None
    call: CallAnswer | None = None
    next: NextAnswer
    history: list[EventAnswer]
    attempts: list[JobSummary]
    requests: list[AskedByAnswer]


class TimelineAnswer(Answer):
    """Everything known of a file, in order of time."""

    fileId: str
    events: list[EventAnswer]


class CancelledAnswer(Answer):
    """The job is cancelled."""

    jobId: str
    status: JobStatus


def write_place(place: Place) -> str:
    """A place as an opaque cursor."""
    text = f"{place.created_at.isoformat()}|{place.job_id}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_place(cursor: str) -> Place:
    """The place of a cursor that we made. Raises ValueError."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        created_at, _, job_id = text.partition("|")
        return Place(_in_utc(datetime.fromisoformat(created_at)), UUID(job_id))
    except (binascii.Error, ValueError, OverflowError):
        raise ValueError("must be a nextCursor of an earlier page") from None


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a time needs a zone")
    return moment.astimezone(UTC)
