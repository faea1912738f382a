"""Rows of `[extractor].[ExtractorHealth]`, one for each extractor that was ever called."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, func, insert, or_, select, update

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import extractor_health as table
from shared.adapters.database.tables import job, job_call
from shared.adapters.database.transient import conflicts
from shared.domain.extractor_health import ExtractorHealth
from shared.domain.jobs import ACTIVE, JobStatus


class SqlExtractorHealths:
    """Implements `ports.ExtractorHealths` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock(self, extractor_id: int) -> ExtractorHealth:
        """An extractor's row under an update lock, made when it is not there.

        Raises ConflictError when another transaction makes it at this moment.
        """
        statement = (
            select(table)
            .with_hint(table, "WITH (UPDLOCK, HOLDLOCK)", "mssql")
            .where(table.c.ClientApplicationExtractorID == extractor_id)
        )
        row = self._connection.execute(statement).first()
        if row:
            return _health(row)
        health = ExtractorHealth(extractor_id)
        with conflicts():
            self._connection.execute(insert(table).values(_row(health)))
        return health

    def save(self, health: ExtractorHealth) -> None:
        """Write a locked row."""
        statement = update(table).where(table.c.ClientApplicationExtractorID == health.extractor_id)
        self._connection.execute(statement.values(_row(health)))

    def active(self, extractor_id: int, now: datetime) -> int:
        """How many of its slots are taken: active jobs that it has, or is being given."""
        return self.all_active(now).get(extractor_id, 0)

    def all_active(self, now: datetime) -> Mapping[int, int]:
        """The taken slots of every extractor that has any."""
        has_it = or_(
            job.c.Status == JobStatus.STARTED.value,
            job_call.c.CalledAt.is_not(None),
            and_(job_call.c.LeaseUntil.is_not(None), job_call.c.LeaseUntil > now),
        )
        statement = (
            select(job.c.ClientApplicationExtractorID, func.count())
            .join(job_call, job_call.c.JobID == job.c.JobID)
            .where(job.c.Status.in_(sorted(ACTIVE)), has_it)
            .group_by(job.c.ClientApplicationExtractorID)
        )
        return {extractor_id: count for extractor_id, count in self._connection.execute(statement)}

    def all(self) -> Mapping[int, ExtractorHealth]:
        """Every row, by extractor."""
        rows = self._connection.execute(select(table))
        return {row.ClientApplicationExtractorID: _health(row) for row in rows}


def _row(health: ExtractorHealth) -> dict[str, Any]:
    return checked(
        table,
        ClientApplicationExtractorID=health.extractor_id,
        Failures=health.failures,
        OpenUntil=health.open_until,
        PausedAt=health.paused_at,
        PausedBy=health.paused_by,
        PauseReason=health.pause_reason,
    )


def _health(row: Row[Any]) -> ExtractorHealth:
    return ExtractorHealth(
        extractor_id=row.ClientApplicationExtractorID,
        failures=row.Failures,
        open_until=row.OpenUntil,
        paused_at=row.PausedAt,
        paused_by=row.PausedBy,
        pause_reason=row.PauseReason,
    )
