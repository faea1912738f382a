"""Rows of `[extractor].[Job]`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, insert, select, update

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import job as table
from shared.adapters.database.transient import conflicts
from shared.domain.jobs import ACTIVE, ENDS, PREDECESSORS, Job, JobStatus


class SqlJobs:
    """Implements `ports.Jobs` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, job_id: UUID) -> Job | None:
        row = self._connection.execute(select(table).where(table.c.JobID == job_id)).first()
        return _job(row) if row else None

    def lock_of_file(self, file_id: UUID) -> Sequence[Job]:
        """All jobs of a file, oldest first, under a lock that keeps other deciders out.

        On SQLite the transaction itself is that lock.
        """
        statement = (
            select(table)
            .with_hint(table, "WITH (UPDLOCK, HOLDLOCK)", "mssql")
            .where(table.c.FileID == file_id)
            .order_by(table.c.CreatedAt, table.c.Attempt)
        )
        return [_job(row) for row in self._connection.execute(statement)]

    def add(self, job: Job) -> None:
        """Insert a job. Raises ConflictError when the file has an active job for this extractor.

        Also when the JobID is taken; PermanentError when a text does not fit.
        """
        row = checked(
            table,
            JobID=job.job_id,
            FileID=job.file_id,
            ClientApplicationExtractorID=job.extractor_id,
            Status=job.status.value,
            StatusMessage=job.status_message,
            CreatedAt=job.created_at,
            UpdatedAt=job.updated_at,
            CompletedAt=job.completed_at,
            ExtractorResponse=job.extractor_response,
            Attempt=job.attempt,
            RequestID=job.request_id,
        )
        with conflicts():
            self._connection.execute(insert(table).values(row))

    def change(
        self,
        job_id: UUID,
        status: JobStatus,
        at: datetime,
        message: str | None = None,
        response: str | None = None,
        only_from: JobStatus | None = None,
    ) -> bool:
        """Guarded change, from an allowed predecessor or just `only_from`. False: no change."""
        allowed = PREDECESSORS[status] & ({only_from} if only_from else set(JobStatus))
        values: dict[str, Any] = {"Status": status.value, "UpdatedAt": at}
        if status in ENDS:
            values["CompletedAt"] = at
        if message is not None:
            values["StatusMessage"] = message
        if response is not None:
            values["ExtractorResponse"] = response
        return self._update(job_id, allowed, values)

    def keep_response(self, job_id: UUID, response: str) -> None:
        """Store the answer to the call in ExtractorResponse, while the job is active."""
        self._update(job_id, ACTIVE, {"ExtractorResponse": response})

    def _update(self, job_id: UUID, allowed: frozenset[JobStatus], values: dict[str, Any]) -> bool:
        """Whether the row was changed; asked of the row, as drivers may not count."""
        statement = (
            update(table)
            .where(table.c.JobID == job_id, table.c.Status.in_(sorted(allowed)))
            .values(values)
            .returning(table.c.JobID)
        )
        return self._connection.execute(statement).first() is not None


def _job(row: Row[Any]) -> Job:
    return Job(
        job_id=row.JobID,
        file_id=row.FileID,
        extractor_id=row.ClientApplicationExtractorID,
        status=JobStatus(row.Status),
        created_at=row.CreatedAt,
        updated_at=row.UpdatedAt,
        attempt=row.Attempt,
        status_message=row.StatusMessage,
        completed_at=row.CompletedAt,
        extractor_response=row.ExtractorResponse,
        request_id=row.RequestID,
    )
