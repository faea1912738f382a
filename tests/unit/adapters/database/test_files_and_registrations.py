"""The tables that other services write."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from shared.adapters.database import SqlDatabase
from shared.domain.jobs import File
from tests.database import add_extractor, add_file
from tests.unit.adapters.database.plans import plan
from tests.unit.adapters.database.rows import MINUTE, NOW


def test_a_file_is_found_by_its_id(database: SqlDatabase) -> None:
    file = add_file(database, blob_name="näme 😀/a b#1.txt", document_hash="sha256:ab")
    add_file(database)

    assert database.run(lambda tx: tx.files.get(file.file_id)) == file
    assert database.run(lambda tx: tx.files.get(uuid4())) is None


def resolve(database: SqlDatabase, file_ref: str, client: str = "client-a") -> File | None:
    return database.run(lambda tx: tx.files.resolve(file_ref, client))


def test_a_document_hash_names_the_newest_file_of_the_client(database: SqlDatabase) -> None:
    newest = add_file(database, created_at=NOW + MINUTE)
    add_file(database, created_at=NOW)
    add_file(database, client_application_id="client-b", created_at=NOW + 2 * MINUTE)
    add_file(database, document_hash="hash-2", created_at=NOW + 3 * MINUTE)

    assert resolve(database, "hash-1") == newest


def test_a_hash_of_other_clients_only_names_the_newest_of_all(database: SqlDatabase) -> None:
    add_file(database, client_application_id="client-b", created_at=NOW)
    newest = add_file(database, client_application_id="client-c", created_at=NOW + MINUTE)

    assert resolve(database, "hash-1") == newest


@pytest.mark.parametrize("spelling", ["{}", "{{{}}}", "urn:uuid:{}"])
@pytest.mark.parametrize("write", [str, str.upper, lambda text: text.replace("-", "")])
def test_what_is_no_hash_is_a_file_id_in_any_spelling(
    database: SqlDatabase, spelling: str, write: Callable[[str], str]
) -> None:
    file = add_file(database, client_application_id="client-b")

    assert resolve(database, spelling.format(write(str(file.file_id)))) == file


def test_a_hash_that_reads_as_an_id_is_a_hash_first(database: SqlDatabase) -> None:
    other = add_file(database)
    named = add_file(database, document_hash=other.file_id.hex)

    assert resolve(database, other.file_id.hex) == named
    assert resolve(database, str(other.file_id)) == other


@pytest.mark.parametrize("file_ref", ["", "hash-9", "تجزئة", "h" * 200, "0" * 32])
def test_what_names_no_file_resolves_to_none(database: SqlDatabase, file_ref: str) -> None:
    add_file(database)

    assert resolve(database, file_ref) is None


def test_hashes_are_searched_by_index(database: SqlDatabase) -> None:
    assert "USING INDEX IX_DocumentHash" in plan(database, lambda tx: tx.files.resolve("h", "c"))


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
