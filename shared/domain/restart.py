"""Which extracted entities may be restarted, and what is said of the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from shared.domain.entities import EntityWithDocument

PROCESSING = "processing"
NOT_FOUND = "Extracted entity with ID {id} not found"
IS_PROCESSING = "Cannot restart entity that is currently processing"
NO_HASH = "Cannot restart entity whose document has no hash"
NOTHING_VALID = "No valid entities to restart"


class RestartStatus(StrEnum):
    """How a restart as a whole went."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True)
class RestartPlan:
    """What a restart comes to, everything in the request's order.

    `file_hashes` holds each document once, however many of its entities are restarted.
    """

    entity_ids: Sequence[int]
    file_hashes: Sequence[str]
    errors: Sequence[tuple[int, str]]
    any_known: bool

    @property
    def status(self) -> RestartStatus:
        if not self.entity_ids:
            return RestartStatus.FAILED
        return RestartStatus.PARTIAL if self.errors else RestartStatus.ACCEPTED

    @property
    def message(self) -> str:
        count = len(self.entity_ids)
        match self.status:
            case RestartStatus.FAILED:
                return NOTHING_VALID
            case RestartStatus.PARTIAL:
                return (
                    f"Initiated restart for {count} extraction(s) with {len(self.errors)} error(s)"
                )
            case RestartStatus.ACCEPTED:
                return f"Successfully initiated restart for {count} extraction(s)"


def plan_restart(wanted: Sequence[int], known: Sequence[EntityWithDocument]) -> RestartPlan:
    """Sort the wanted ids out: repeats are dropped, the first place counts."""
    by_id = {entity.entity_id: entity for entity in known}
    errors = {entity_id: _error(entity_id, by_id.get(entity_id)) for entity_id in wanted}
    valid = [by_id[entity_id] for entity_id, error in errors.items() if error is None]
    return RestartPlan(
        entity_ids=[entity.entity_id for entity in valid],
        file_hashes=list(dict.fromkeys(entity.document_hash for entity in valid)),
        errors=[(entity_id, error) for entity_id, error in errors.items() if error],
        any_known=bool(by_id),
    )


def _error(entity_id: int, entity: EntityWithDocument | None) -> str | None:
    """Why an entity is not restarted; None when it is."""
    if entity is None:
        return NOT_FOUND.format(id=entity_id)
    if entity.status == PROCESSING:
        return IS_PROCESSING
    # One document that was never hashed must not keep the others from being restarted.
    return None if entity.document_hash and entity.document_hash.strip() else NO_HASH
