"""Finding jobs: what to look for, and where a page goes on."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from shared.domain.jobs import JobStatus


@dataclass(frozen=True)
class JobFilter:
    """What jobs must be like; None does not matter. Since is included, until is not."""

    status: JobStatus | None = None
    file_id: UUID | None = None
    client_application_id: str | None = None
    extractor_id: int | None = None
    request_id: str | None = None
    created_since: datetime | None = None
    created_until: datetime | None = None
    updated_since: datetime | None = None
    updated_until: datetime | None = None


@dataclass(frozen=True)
class Place:
    """The last job of a page: the next one goes on behind it, whatever arrives meanwhile."""

    created_at: datetime
    job_id: UUID
