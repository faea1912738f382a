"""Stands for the documents service: it keeps documents, and how their extraction went."""

from datetime import UTC, datetime

from sqlalchemy import Column, Connection, func, insert, select

from shared.adapters.database import SqlDatabase
from shared.adapters.database.tables import documents, extracted_entities


class DocumentsService:
    """Writes the two tables that our service only reads."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add_entity(self, document_hash: str, status: str = "failed") -> int:
        """An extracted entity of the document with this hash, which is made if it is not there."""
        with self._database.engine.begin() as connection:
            entity_id = _next_id(connection, extracted_entities.c.ExtractedEntityId)
            entity = {
                "ExtractedEntityId": entity_id,
                "DocumentId": _document_id(connection, document_hash),
                "Status": status,
                "Stage": "extraction",
                "CreatedOn": datetime.now(UTC),
            }
            connection.execute(insert(extracted_entities).values(entity))
        return entity_id


def _document_id(connection: Connection, document_hash: str) -> int:
    known = select(documents.c.DocumentId).where(documents.c.DocumentHash == document_hash)
    found: int | None = connection.execute(known).scalar()
    if found is not None:
        return found
    made = _next_id(connection, documents.c.DocumentId)
    row = {"DocumentId": made, "DocumentHash": document_hash}
    connection.execute(insert(documents).values(row))
    return made


def _next_id(connection: Connection, column: Column[int]) -> int:
    largest: int | None = connection.execute(select(func.max(column))).scalar()
    return (largest or 0) + 1
