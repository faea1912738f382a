"""Rows of `[extractor].[Job]`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import file
from shared.adapters.database.tables import job as table
from shared.adapters.database.transient import conflicts
from shared.domain.job_search import JobFilter, Place
from shared.domain.jobs import ACTIVE, ENDS, PREDECESSORS, Job, JobStatus


class SqlJobs:
    """Implements `ports.Jobs` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, job_id: UUID) -> Job | None:
        row = self._connection.execute(select(table).where(table.c.JobID == job_id)).first()
        return read_job(row) if row else None

    def of_file(self, file_id: UUID) -> Sequence[Job]:
        """All jobs of a file, oldest first."""
        return [read_job(row) for row in self._connection.execute(_of_file(file_id))]

    def search(self, wanted: JobFilter, after: Place | None, limit: int) -> Sequence[Job]:
        """Jobs newest first, going on behind a place."""
        statement = _filtered(select(table), wanted)
        if after:
            behind = and_(table.c.CreatedAt == after.created_at, table.c.JobID < after.job_id)
            statement = statement.where(or_(table.c.CreatedAt < after.created_at, behind))
        newest_first = statement.order_by(table.c.CreatedAt.desc(), table.c.JobID.desc())
        return [read_job(row) for row in self._connection.execute(newest_first.limit(limit))]

    def counts(self, wanted: JobFilter) -> Mapping[JobStatus, int]:
        """How many jobs fit, by status; a status without any is left out."""
        statement = _filtered(select(table.c.Status, func.count()), wanted)
        rows = self._connection.execute(statement.group_by(table.c.Status))
        return {JobStatus(status): count for status, count in rows}

    def active_since(self, before: datetime, limit: int) -> Sequence[Job]:
        """Active jobs that have not changed since, the longest first."""
        statement = (
            select(table)
            .where(table.c.Status.in_(sorted(ACTIVE)), table.c.UpdatedAt < before)
            .order_by(table.c.UpdatedAt)
            .limit(limit)
        )
        return [read_job(row) for row in self._connection.execute(statement)]

    def lock_of_file(self, file_id: UUID) -> Sequence[Job]:
        """All jobs of a file, oldest first, under a lock that keeps other deciders out.

        On SQLite the transaction itself is that lock.
        """
        statement = _of_file(file_id).with_hint(table, "WITH (UPDLOCK, HOLDLOCK)", "mssql")
        return [read_job(row) for row in self._connection.execute(statement)]

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


def _of_file(file_id: UUID) -> Select[Any]:
    of_file = select(table).where(table.c.FileID == file_id)
    return of_file.order_by(table.c.CreatedAt, table.c.Attempt)


def _filtered(statement: Select[Any], wanted: JobFilter) -> Select[Any]:
    status = wanted.status.value if wanted.status else None
    exactly = {
        table.c.Status: status,
        table.c.FileID: wanted.file_id,
        table.c.ClientApplicationExtractorID: wanted.extractor_id,
        table.c.RequestID: wanted.request_id,
    }
    since = {table.c.CreatedAt: wanted.created_since, table.c.UpdatedAt: wanted.updated_since}
    until = {table.c.CreatedAt: wanted.created_until, table.c.UpdatedAt: wanted.updated_until}
    conditions = [column == value for column, value in exactly.items() if value is not None]
    conditions += [column >= value for column, value in since.items() if value is not None]
    conditions += [column < value for column, value in until.items() if value is not None]
    if wanted.client_application_id is not None:
        conditions.append(_is_of_client(wanted.client_application_id))
    return statement.where(*conditions)


def _is_of_client(client_application_id: str) -> ColumnElement[bool]:
    return exists().where(
        file.c.FileID == table.c.FileID, file.c.ClientApplicationID == client_application_id
    )


def read_job(row: Row[Any]) -> Job:
    """A job from a whole row of the table."""
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
