"""Rows of `[extractor].[FileEvent]`: append-only."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, insert, select

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import file_event as table
from shared.domain.events import EventKind, FileEvent


class SqlEvents:
    """Implements `ports.Events` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, event: FileEvent) -> None:
        row = checked(
            table,
            FileID=event.file_id,
            JobID=event.job_id,
            RequestID=event.request_id,
            At=event.at,
            Kind=event.kind.value,
            Source=event.source,
            Actor=event.actor,
            Detail=event.detail,
        )
        self._connection.execute(insert(table).values(row))

    def of_file(self, file_id: UUID) -> Sequence[FileEvent]:
        """All that is written down about a file, in order of time, then of writing."""
        statement = (
            select(table).where(table.c.FileID == file_id).order_by(table.c.At, table.c.FileEventID)
        )
        return [
            FileEvent(
                file_id=row.FileID,
                at=row.At,
                kind=EventKind(row.Kind),
                source=row.Source,
                job_id=row.JobID,
                request_id=row.RequestID,
                actor=row.Actor,
                detail=row.Detail,
            )
            for row in self._connection.execute(statement)
        ]
