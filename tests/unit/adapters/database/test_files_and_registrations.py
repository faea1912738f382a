"""The tables that other services write."""

from uuid import uuid4

from shared.adapters.database import SqlDatabase
from tests.database import add_extractor, add_file


def test_a_file_is_found_by_its_id(database: SqlDatabase) -> None:
    file = add_file(database, blob_name="näme 😀/a b#1.txt", document_hash="sha256:ab")
    add_file(database)

    assert database.run(lambda tx: tx.files.get(file.file_id)) == file
    assert database.run(lambda tx: tx.files.get(uuid4())) is None


def test_a_clients_active_extractors_come_lowest_id_first(database: SqlDatabase) -> None:
    high = add_extractor(database, 205, "client-a")
    low = add_extractor(database, 7, "client-a")
    add_extractor(database, 3, "client-a", is_active=False)
    add_extractor(database, 1, "client-b")

    assert database.run(lambda tx: tx.registrations.active("client-a")) == [low, high]
    assert database.run(lambda tx: tx.registrations.active("client-c")) == []


def test_an_extractor_is_found_even_when_it_is_not_active(database: SqlDatabase) -> None:
    inactive = add_extractor(database, 3, is_active=False)

    assert database.run(lambda tx: tx.registrations.get(3)) == inactive
    assert database.run(lambda tx: tx.registrations.get(4)) is None
