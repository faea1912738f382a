"""Rows of `[extractor].[Outbox]`: messages that leave with the transaction that wrote them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import outbox as table
from shared.adapters.database.transient import conflicts
from shared.contracts.outgoing import OutgoingMessage
from shared.services.ports import Clock


class SqlOutbox:
    """Implements `ports.Outbox` within one transaction; `now` dates the rows."""

    def __init__(self, connection: Connection, now: Clock) -> None:
        self._connection = connection
        self._now = now

    def add(self, message: OutgoingMessage, job_id: UUID | None) -> None:
        """Insert if its topic and message id are absent.

        Raises ConflictError when another transaction writes the same message at this moment.
        """
        row = checked(
            table,
            JobID=job_id,
            Topic=message.topic,
            MessageID=message.message_id,
            Body=message.body,
            Properties={
                "subject": message.subject,
                "correlationId": message.correlation_id,
                "properties": message.properties,
            },
            NotBefore=message.not_before,
            CreatedAt=self._now(),
        )
        if not self._holds(message):
            with conflicts():
                self._connection.execute(insert(table).values(row))

    def unsent(self, job_id: UUID) -> Sequence[tuple[int, OutgoingMessage]]:
        """The job's unsent rows with their row ids, in the order they were written."""
        statement = (
            select(table)
            .where(table.c.JobID == job_id, table.c.SentAt.is_(None))
            .order_by(table.c.OutboxID)
        )
        return [(row.OutboxID, _message(row)) for row in self._connection.execute(statement)]

    def overdue(self, before: datetime, limit: int) -> Sequence[UUID]:
        """The ids under which rows written before are still unsent, the oldest first."""
        oldest = func.min(table.c.OutboxID)
        # Rows that were written before there was a time are old.
        old = or_(table.c.CreatedAt.is_(None), table.c.CreatedAt < before)
        statement = (
            select(table.c.JobID)
            .where(table.c.SentAt.is_(None), old, table.c.JobID.is_not(None))
            .group_by(table.c.JobID)
            .order_by(oldest)
            .limit(limit)
        )
        return list(self._connection.execute(statement).scalars())

    def purge(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` rows that were sent before; how many."""
        old = select(table.c.OutboxID).where(table.c.SentAt < before).limit(limit)
        statement = delete(table).where(table.c.OutboxID.in_(old)).returning(table.c.OutboxID)
        return len(self._connection.execute(statement).all())

    def mark_sent(self, row_id: int, at: datetime) -> None:
        """The first time it was sent stays."""
        statement = (
            update(table)
            .where(table.c.OutboxID == row_id, table.c.SentAt.is_(None))
            .values(SentAt=at)
        )
        self._connection.execute(statement)

    def _holds(self, message: OutgoingMessage) -> bool:
        statement = select(table.c.OutboxID).where(
            table.c.Topic == message.topic, table.c.MessageID == message.message_id
        )
        return self._connection.execute(statement).first() is not None


def _message(row: Row[Any]) -> OutgoingMessage:
    return OutgoingMessage(
        topic=row.Topic,
        message_id=row.MessageID,
        subject=row.Properties["subject"],
        body=row.Body,
        correlation_id=row.Properties["correlationId"],
        properties=row.Properties["properties"],
        not_before=row.NotBefore,
    )
