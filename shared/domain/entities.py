"""Extracted entities, as the documents service keeps them: only read here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EntityWithDocument:
    """An entity with its document; `status` is pending, processing, completed or failed."""

    entity_id: int
    document_id: int
    document_hash: str
    status: str
