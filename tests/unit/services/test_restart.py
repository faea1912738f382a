"""An operator restarts extractions: the entities are read, and one event goes out."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from shared.domain.errors import TransientError
from shared.domain.restart import RestartStatus
from shared.services.restart import Restart, Restarted, RestartNotSentError
from tests.database import add_document, add_entity
from tests.unit.services.world import TRACE, World

ONE = Restart(
    entity_ids=[1],
    reason="manual_restart",
    initiated_by="test@example.com",
    client_application_id="test-client",
    body=b'{"extractedEntityIds": [1]}',
)


@pytest.fixture
def world(world: World) -> World:
    """Entities 1, 2 and 3, which failed; 2 and 3 are of one document; 4 is processing."""
    for document, hash_ in ((100, "hash123"), (200, "hash200"), (400, "hash400")):
        add_document(world.sql, document, hash_)
    for entity, document in ((1, 100), (2, 200), (3, 200)):
        add_entity(world.sql, entity, document)
    add_entity(world.sql, 4, 400, status="processing")
    return world


def restart(world: World, *ids: int, **more: Any) -> Restarted:
    return world.restart_use_case(replace(ONE, entity_ids=ids, **more))


def sent(world: World) -> list[dict[str, Any]]:
    return [json.loads(message.body) for message in world.sent]


def test_a_valid_entity_is_restarted_with_one_event(world: World) -> None:
    restarted = world.restart_use_case(ONE, TRACE)
    assert restarted.plan.status is RestartStatus.ACCEPTED
    assert restarted.plan.file_hashes == ["hash123"]
    assert restarted.plan.entity_ids == [1]
    assert sent(world) == [
        {
            "requestId": restarted.request_id,
            "fileIds": ["hash123"],
            "reason": "manual_restart",
            "retryAttempt": 1,
            "maxRetries": 3,
            "clientApplicationId": "test-client",
            "initiatedBy": "test@example.com",
            "timestamp": "2026-01-01T12:00:00.000Z",
            "metadata": {"extractedEntityIds": [1]},
        }
    ]
    assert world.sent[0].message_id == f"{restarted.request_id}:1"
    assert world.sent[0].properties["traceparent"] == TRACE


def test_entities_that_are_not_found_are_named_and_nothing_is_sent(world: World) -> None:
    plan = restart(world, 999).plan
    assert plan.status is RestartStatus.FAILED
    assert plan.errors == [(999, "Extracted entity with ID 999 not found")]
    assert not plan.any_known
    assert world.sent == []


def test_an_entity_that_is_processing_is_refused(world: World) -> None:
    plan = restart(world, 4).plan
    assert plan.status is RestartStatus.FAILED
    assert plan.errors == [(4, "Cannot restart entity that is currently processing")]
    assert plan.any_known
    assert world.sent == []


def test_what_can_be_restarted_is_beside_what_cannot(world: World) -> None:
    plan = restart(world, 4, 1, 999).plan
    assert plan.status is RestartStatus.PARTIAL
    assert plan.entity_ids == [1]
    assert [id_ for id_, _ in plan.errors] == [4, 999]
    assert sent(world)[0]["metadata"] == {"extractedEntityIds": [1]}


def test_two_entities_of_one_document_are_one_file(world: World) -> None:
    plan = restart(world, 3, 2, 1).plan
    assert plan.entity_ids == [3, 2, 1]
    assert sent(world)[0]["fileIds"] == plan.file_hashes == ["hash200", "hash123"]
    assert sent(world)[0]["metadata"] == {"extractedEntityIds": [3, 2, 1]}


def test_a_hundred_entities_are_one_query_and_one_message(world: World) -> None:
    for number in range(100):
        add_document(world.sql, 1000 + number, f"hash-{number}")
        add_entity(world.sql, 1000 + number, 1000 + number)
    queries = []
    event.listen(world.sql.engine, "before_cursor_execute", lambda *args: queries.append(args[2]))
    plan = restart(world, *range(1000, 1100)).plan
    assert len(plan.file_hashes) == 100
    assert len(world.sent) == 1
    assert len([query for query in queries if query.startswith("SELECT")]) == 1


def test_nothing_is_written_to_the_database(world: World) -> None:
    before = dump(world)
    assert restart(world, 1, 2, 3, 4, 999).plan.status is RestartStatus.PARTIAL
    assert dump(world) == before


def dump(world: World) -> list[str]:
    with world.sql.engine.connect() as connection:
        return list(connection.connection.driver_connection.iterdump())  # type: ignore[union-attr]


def test_a_broker_out_of_reach_is_told_with_the_request_id(world: World) -> None:
    world.down.add("service bus")
    with pytest.raises(RestartNotSentError) as failed:
        restart(world, 1, idempotency_key="k")
    world.down.clear()
    assert failed.value.request_id == restart(world, 1, idempotency_key="k").request_id


def test_a_database_out_of_reach_is_told_as_such(world: World) -> None:
    world.down.add("database")
    with pytest.raises(TransientError, match="database"):
        restart(world, 1)
    assert world.sent == []


# Idempotency


def test_without_a_key_every_restart_is_its_own(world: World) -> None:
    assert restart(world, 1).request_id != restart(world, 1).request_id


def test_a_repeat_with_its_key_is_the_same_request_and_the_same_message(world: World) -> None:
    first, again = (restart(world, 1, idempotency_key="k") for _ in range(2))
    assert first.request_id == again.request_id
    assert {message.message_id for message in world.sent} == {f"{first.request_id}:1"}


@pytest.mark.parametrize(
    "other",
    [
        {"idempotency_key": "another"},
        {"initiated_by": "someone@example.com"},
        {"client_application_id": "another-client"},
        {"body": b'{"extractedEntityIds":[1]}'},
        {"initiated_by": "test@example.com:k", "idempotency_key": ""},
        {"initiated_by": "test@example.com:k", "idempotency_key": "k"},
    ],
)
def test_another_caller_key_or_body_is_another_request(world: World, other: Any) -> None:
    first = restart(world, 1, idempotency_key="k")
    assert restart(world, 1, **({"idempotency_key": "k"} | other)).request_id != first.request_id


def test_where_a_name_ends_and_a_key_begins_is_part_of_the_key(world: World) -> None:
    first = restart(world, 1, initiated_by="a", idempotency_key="b:c")
    second = restart(world, 1, initiated_by="a:b", idempotency_key="c")
    assert first.request_id != second.request_id


def test_a_repeat_that_arrives_twice_extracts_once(world: World) -> None:
    request_id = restart(world, 1, idempotency_key="k").request_id
    restart(world, 1, idempotency_key="k")
    for _ in world.sent[:2]:
        world.retried(world.file.document_hash, request=request_id)
    assert len(world.jobs()) == 1
