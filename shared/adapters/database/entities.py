"""`ExtractedEntities` and `Documents`, which belong to the documents service and are only read."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from shared.adapters.database.tables import documents, extracted_entities
from shared.domain.entities import EntityWithDocument

CHUNK = 500
"""Ids in one statement; SQL Server takes 2,100 parameters at most."""


class SqlEntities:
    """Implements `ports.Entities` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get_entities_with_documents_by_ids(
        self, entity_ids: Sequence[int]
    ) -> Sequence[EntityWithDocument]:
        """The known ones of these entities with the hashes of their documents, in no order."""
        distinct = list(dict.fromkeys(entity_ids))
        chunks = (distinct[start : start + CHUNK] for start in range(0, len(distinct), CHUNK))
        return [entity for chunk in chunks for entity in self._entities(chunk)]

    def _entities(self, entity_ids: list[int]) -> list[EntityWithDocument]:
        statement = (
            select(
                extracted_entities.c.ExtractedEntityId,
                extracted_entities.c.DocumentId,
                documents.c.DocumentHash,
                extracted_entities.c.Status,
            )
            .join(documents, extracted_entities.c.DocumentId == documents.c.DocumentId)
            .where(extracted_entities.c.ExtractedEntityId.in_(entity_ids))
        )
        return [EntityWithDocument(*row) for row in self._connection.execute(statement)]
