"""Entities as the documents service keeps them."""

from local.demo.documents_service import DocumentsService
from tests.unit.local.demo.conftest import Laptop


def test_every_entity_has_an_id_of_its_own_and_the_same_hash_is_one_document(
    laptop: Laptop,
) -> None:
    service = DocumentsService(laptop.database)

    ids = [service.add_entity(hash_) for hash_ in ("hash-1", "hash-2", "hash-1")]
    processing = service.add_entity("hash-2", "processing")

    found = laptop.database.run(
        lambda tx: tx.entities.get_entities_with_documents_by_ids([*ids, processing])
    )
    assert sorted((each.entity_id, each.document_hash, each.status) for each in found) == [
        (1, "hash-1", "failed"),
        (2, "hash-2", "failed"),
        (3, "hash-1", "failed"),
        (4, "hash-2", "processing"),
    ]
    assert len({each.document_id for each in found}) == 2
