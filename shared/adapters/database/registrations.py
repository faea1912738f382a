"""Rows of `[registration].[ClientApplicationExtractor]`, which are only read."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select, true

from shared.adapters.database.tables import client_application_extractor as table
from shared.domain.jobs import Extractor, RegisteredExtractor


class SqlRegistrations:
    """Implements `ports.Registrations` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def active(self, client_application_id: str) -> Sequence[Extractor]:
        """The client's active extractors, lowest id first."""
        statement = (
            select(table)
            .where(table.c.ClientApplicationID == client_application_id, table.c.IsActive == true())
            .order_by(table.c.ClientApplicationExtractorID)
        )
        return [_extractor(row) for row in self._connection.execute(statement)]

    def all(self) -> Sequence[RegisteredExtractor]:
        """Every registered extractor, lowest id first."""
        statement = select(table).order_by(table.c.ClientApplicationExtractorID)
        return [
            RegisteredExtractor(
                row.ClientApplicationExtractorID,
                row.ExtractionUrl,
                row.ClientApplicationID,
                row.IsActive,
            )
            for row in self._connection.execute(statement)
        ]

    def get(self, extractor_id: int) -> Extractor | None:
        """A registered extractor, active or not."""
        statement = select(table).where(table.c.ClientApplicationExtractorID == extractor_id)
        row = self._connection.execute(statement).first()
        return _extractor(row) if row else None


def _extractor(row: Row[Any]) -> Extractor:
    return Extractor(row.ClientApplicationExtractorID, row.ExtractionUrl)
