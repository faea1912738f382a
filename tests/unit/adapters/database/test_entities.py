"""Entities with their documents, which another service writes."""

from collections.abc import Iterator, Sequence

import pytest
from sqlalchemy import Connection, create_engine, insert
from sqlalchemy.exc import OperationalError

from shared.adapters.database import SqlDatabase, tables
from shared.adapters.database.entities import SqlEntities
from shared.domain.entities import EntityWithDocument
from tests.database import add_document, add_entity, empty_database
from tests.unit.adapters.database.plans import plan, statements
from tests.unit.adapters.database.rows import NOW

BEYOND_32_BITS = 5_000_000_000
LARGEST = 2**63 - 1
MANY = 40_000
PARAMETERS_OF_SQL_SERVER = 2_100


def found(database: SqlDatabase, entity_ids: Sequence[int]) -> list[EntityWithDocument]:
    entities = database.run(lambda tx: tx.entities.get_entities_with_documents_by_ids(entity_ids))
    return sorted(entities, key=lambda entity: entity.entity_id)


def entity(number: int) -> EntityWithDocument:
    """Number `number` of the many; three of them share a document."""
    document = number // 3
    status = ("failed", "completed")[number % 2]
    return EntityWithDocument(
        BEYOND_32_BITS + number, BEYOND_32_BITS + document, f"hash-{document}", status
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlDatabase]:
    """A database with forty thousand entities."""
    database = empty_database(tmp_path_factory.mktemp("many"))
    entities = [entity(number) for number in range(MANY)]
    documents = {(entity.document_id, entity.document_hash) for entity in entities}
    with database.engine.begin() as connection:
        connection.execute(
            insert(tables.documents),
            [{"DocumentId": key, "DocumentHash": text} for key, text in documents],
        )
        connection.execute(
            insert(tables.extracted_entities),
            [
                {
                    "ExtractedEntityId": entity.entity_id,
                    "DocumentId": entity.document_id,
                    "Status": entity.status,
                    "Stage": "extraction",
                    "CreatedOn": NOW,
                }
                for entity in entities
            ],
        )
    yield database
    database.close()


def test_an_entity_comes_with_its_document(database: SqlDatabase) -> None:
    add_document(database, 7, "hash-7")
    add_entity(database, LARGEST, 7, status="processing")
    add_entity(database, 2, 7)

    assert found(database, [LARGEST]) == [EntityWithDocument(LARGEST, 7, "hash-7", "processing")]


def test_unknown_ids_are_left_out(many: SqlDatabase) -> None:
    assert found(many, [1, BEYOND_32_BITS + 5, LARGEST]) == [entity(5)]


def test_an_id_that_is_asked_for_twice_is_answered_once(many: SqlDatabase) -> None:
    ids = [entity(number).entity_id for number in range(700)]

    assert found(many, ids + ids) == [entity(number) for number in range(700)]


def test_no_ids_need_no_query(many: SqlDatabase) -> None:
    assert found(many, []) == []
    assert statements(many, lambda tx: tx.entities.get_entities_with_documents_by_ids([])) == []


@pytest.mark.parametrize("number", [1, 100, 499, 500, 501, 2_099, 2_100, 2_500, MANY])
def test_any_number_of_ids_is_answered_whole(many: SqlDatabase, number: int) -> None:
    last_first = [entity(place).entity_id for place in reversed(range(number))]

    assert found(many, last_first) == [entity(place) for place in range(number)]


@pytest.mark.parametrize(("number", "expected"), [(100, 1), (2_500, 5), (MANY, 80)])
def test_no_statement_has_more_parameters_than_sql_server_takes(
    many: SqlDatabase, number: int, expected: int
) -> None:
    ids = range(number)

    executed = statements(many, lambda tx: tx.entities.get_entities_with_documents_by_ids(ids))

    assert len(executed) == expected
    assert max(len(parameters) for _, parameters in executed) < PARAMETERS_OF_SQL_SERVER / 2


def test_entities_and_documents_are_searched_by_their_keys(many: SqlDatabase) -> None:
    steps = plan(many, lambda tx: tx.entities.get_entities_with_documents_by_ids([1, 2, 3]))

    assert "SEARCH ExtractedEntities USING" in steps
    assert "SEARCH Documents USING" in steps


@pytest.fixture
def read_only(many: SqlDatabase) -> Iterator[Connection]:
    """A connection to the same file that may not write."""
    engine = create_engine(f"sqlite:///file:{many.engine.url.database}?mode=ro&uri=true")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_reading_needs_no_right_to_write(read_only: Connection) -> None:
    ids = [entity(number).entity_id for number in range(3)]

    with pytest.raises(OperationalError, match="readonly"):
        read_only.execute(insert(tables.documents).values(DocumentId=1, DocumentHash="hash"))
    assert len(SqlEntities(read_only).get_entities_with_documents_by_ids(ids)) == 3
