"""Rows of `[extractor].[JobCall]`, one for each job."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select, update

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import job
from shared.adapters.database.tables import job_call as table
from shared.adapters.database.transient import conflicts
from shared.domain.jobs import Call, JobStatus


class SqlCalls:
    """Implements `ports.Calls` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, job_id: UUID) -> Call | None:
        row = self._connection.execute(select(table).where(table.c.JobID == job_id)).first()
        if row is None:
            return None
        return Call(
            job_id=row.JobID,
            trace_parent=row.TraceParent,
            due_at=row.DueAt,
            first_tried_at=row.FirstTriedAt,
            called_at=row.CalledAt,
            lease_until=row.LeaseUntil,
            tries=row.Tries,
            last_error=row.LastError,
        )

    def add(self, call: Call) -> None:
        row = checked(
            table,
            JobID=call.job_id,
            TraceParent=call.trace_parent,
            FirstTriedAt=call.first_tried_at,
            CalledAt=call.called_at,
            LeaseUntil=call.lease_until,
            DueAt=call.due_at,
            Tries=call.tries,
            LastError=call.last_error,
        )
        with conflicts():
            self._connection.execute(insert(table).values(row))

    def take_lease(self, job_id: UUID, now: datetime, until: datetime) -> bool:
        """Guarded: of a Queued job that is not taken and has no live lease. False: refused."""
        statement = (
            update(table)
            .where(
                table.c.JobID == job_id,
                table.c.CalledAt.is_(None),
                or_(table.c.LeaseUntil.is_(None), table.c.LeaseUntil < now),
                _job_is(JobStatus.QUEUED),
            )
            .values(LeaseUntil=until)
            .returning(table.c.JobID)
        )
        return self._connection.execute(statement).first() is not None

    def release_lease(self, job_id: UUID, until: datetime) -> None:
        """Give the lease that ends at `until` back; another's lease stays."""
        statement = (
            update(table)
            .where(table.c.JobID == job_id, table.c.LeaseUntil == until)
            .values(LeaseUntil=None)
        )
        self._connection.execute(statement)

    def record_taken(self, job_id: UUID, at: datetime) -> None:
        """CalledAt, one more try, no lease and no last error. DueAt stays."""
        self._update(job_id, CalledAt=at, Tries=table.c.Tries + 1, LeaseUntil=None, LastError=None)

    def record_failure(self, job_id: UUID, tried_at: datetime, error: str) -> None:
        """FirstTriedAt when it is the first, one more try, the error, no lease. DueAt stays."""
        self._update(
            job_id,
            FirstTriedAt=func.coalesce(table.c.FirstTriedAt, tried_at),
            Tries=table.c.Tries + 1,
            LastError=error,
            LeaseUntil=None,
        )

    def put_off(self, job_id: UUID, first_tried_at: datetime | None, due_at: datetime) -> None:
        """DueAt of a Queued job, and its first try as if it had been so much later."""
        statement = update(table).where(table.c.JobID == job_id, _job_is(JobStatus.QUEUED))
        self._connection.execute(statement.values(FirstTriedAt=first_tried_at, DueAt=due_at))

    def overdue(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Active jobs that were taken or started, and whose DueAt lies before, the oldest first."""
        started = job.c.Status == JobStatus.STARTED.value
        taken = and_(job.c.Status == JobStatus.QUEUED.value, table.c.CalledAt.is_not(None))
        statement = (
            select(table.c.JobID)
            .join(job, job.c.JobID == table.c.JobID)
            .where(table.c.DueAt < before, or_(started, taken))
            .order_by(table.c.DueAt)
            .limit(limit)
        )
        return list(self._connection.execute(statement).scalars())

    def set_due(self, job_id: UUID, due_at: datetime, status: JobStatus) -> None:
        """Guarded: DueAt of a job in this status. A job that went on keeps its own."""
        statement = (
            update(table).where(table.c.JobID == job_id, _job_is(status)).values(DueAt=due_at)
        )
        self._connection.execute(statement)

    def _update(self, job_id: UUID, **values: Any) -> None:
        self._connection.execute(update(table).where(table.c.JobID == job_id).values(values))


def _job_is(status: JobStatus) -> ColumnElement[bool]:
    """Reads the job as it stands, not a row version from before a change that is under way."""
    return (
        select(job.c.JobID)
        .with_hint(job, "WITH (READCOMMITTEDLOCK)", "mssql")
        .where(job.c.JobID == table.c.JobID, job.c.Status == status.value)
        .exists()
    )
