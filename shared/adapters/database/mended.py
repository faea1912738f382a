"""Rows of `[extractor].[Reconciliation]`: what was mended, counted by kind."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import reconciliation as table
from shared.adapters.database.transient import conflicts
from shared.domain.mended import Mended


class SqlMended:
    """Implements `ports.MendedCounts` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, counts: Mapping[str, int], at: datetime) -> None:
        """Add to the counts, in the order of the kinds. Raises ConflictError for a new kind that
        another transaction counts at this moment.
        """
        for kind, count in sorted(counts.items()):
            if not self._count(kind, count, at):
                row = checked(table, Kind=kind, Total=count, LastAt=at)
                with conflicts():
                    self._connection.execute(insert(table).values(row))

    def all(self) -> Sequence[Mended]:
        """Every kind that was ever counted, by name."""
        rows = self._connection.execute(select(table).order_by(table.c.Kind))
        return [Mended(row.Kind, row.Total, row.LastAt) for row in rows]

    def _count(self, kind: str, count: int, at: datetime) -> bool:
        statement = (
            update(table)
            .where(table.c.Kind == kind)
            .values(Total=table.c.Total + count, LastAt=at)
            .returning(table.c.Kind)
        )
        return self._connection.execute(statement).first() is not None
