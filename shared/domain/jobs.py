"""A job: one extraction of one file by one extractor, and the states it goes through."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid5


class JobStatus(StrEnum):
    """The five values of `[extractor].[Job].Status`."""

    QUEUED = "Queued"
    STARTED = "Started"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELLED = "Cancelled"


ACTIVE = frozenset({JobStatus.QUEUED, JobStatus.STARTED})
ENDS = frozenset({JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED})

PREDECESSORS: dict[JobStatus, frozenset[JobStatus]] = {
    JobStatus.QUEUED: frozenset(),
    JobStatus.STARTED: frozenset({JobStatus.QUEUED}),
    JobStatus.SUCCEEDED: ACTIVE,
    JobStatus.FAILED: ACTIVE,
    JobStatus.CANCELLED: ACTIVE,
}
"""From which states a job may reach each one. Ends are final."""

JOB_NAMESPACE = UUID("5f0f3a52-7f0e-5e62-9a35-5d8d1f6f9a41")
"""Fixed: the same file and content give the same JobID on every host and in every release."""

MESSAGE_LIMIT = 4000
"""Characters of an error message that are kept and announced."""


@dataclass(frozen=True)
class File:
    """A row of `[file].[File]`: where an accepted file is stored and whose it is."""

    file_id: UUID
    client_application_id: str
    blob_container: str
    blob_name: str
    document_hash: str


@dataclass(frozen=True)
class Extractor:
    """A registered extractor of a client application."""

    extractor_id: int
    extraction_url: str


@dataclass(frozen=True)
class RegisteredExtractor(Extractor):
    """An extractor with whose it is, and whether it is registered as active."""

    client_application_id: str
    is_active: bool


@dataclass(frozen=True)
class Job:
    """A row of `[extractor].[Job]`. Times are aware UTC; no `extractor_id` when none was active."""

    job_id: UUID
    file_id: UUID
    extractor_id: int | None
    status: JobStatus
    created_at: datetime
    updated_at: datetime
    attempt: int = 1
    status_message: str | None = None
    completed_at: datetime | None = None
    extractor_response: str | None = None
    request_id: str | None = None

    @property
    def active(self) -> bool:
        return self.status in ACTIVE


@dataclass(frozen=True)
class Call:
    """A row of `[extractor].[JobCall]`: how the call of the job's extractor stands.

    `due_at` is when something must happen next; `lease_until` keeps a second caller out.
    """

    job_id: UUID
    trace_parent: str
    due_at: datetime
    first_tried_at: datetime | None = None
    called_at: datetime | None = None
    lease_until: datetime | None = None
    tries: int = 0
    last_error: str | None = None


def first_job_id(file_id: UUID, document_hash: str) -> UUID:
    """The JobID of an extraction that no request asked for: the same content is the same job."""
    return uuid5(JOB_NAMESPACE, f"{file_id}:{document_hash}")


def cut_message(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """An error message at the length that is kept (4,000 characters), or a shorter one."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
