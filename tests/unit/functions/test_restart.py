"""`POST /v1/extracted_entities/restart`: the specification's examples, and every other answer."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import azure.functions as func
import pytest

from shared import wiring
from shared.auth import Caller, ForbiddenError, UnauthorizedError
from shared.domain.errors import TransientError
from shared.functions.restart import restart_extraction
from tests.database import add_document, add_entity, empty_database
from tests.unit.functions.endpoints import ask, read
from tests.unit.services.world import TRACE, World

ENTITIES = {
    12345: ("abc123def456", "failed"),
    100: ("hash1", "failed"),
    101: ("hash2", "completed"),
    102: ("hash3", "pending"),
    103: ("hash4", "failed"),
    200: ("hash200", "failed"),
    201: ("hash201", "failed"),
    300: ("hash300", "processing"),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The entities of the specification's examples."""
    world = World(empty_database(tmp_path))
    for number, (hash_, status) in ENTITIES.items():
        add_document(world.sql, number, hash_)
        add_entity(world.sql, number, number, status)
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


def restart(body: Any, **headers: str) -> func.HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(restart_extraction, body, named)


def sent(world: World) -> dict[str, Any]:
    """The one event that went out."""
    (message,) = world.sent
    event: dict[str, Any] = json.loads(message.body)
    return event


# The specification's examples. Example 4 answers 400 here: nothing was restarted.


def test_example_1_restarts_a_single_extraction(world: World) -> None:
    reason = "manual_retry - extraction failed due to network timeout"
    response = restart({"extractedEntityIds": [12345], "reason": reason})
    assert response.status_code == 200
    assert read(response) == {
        "requestId": sent(world)["requestId"],
        "extractedEntityIds": [12345],
        "fileHashes": ["abc123def456"],
        "status": "accepted",
        "message": "Successfully initiated restart for 1 extraction(s)",
    }
    assert UUID(sent(world)["requestId"])
    assert sent(world)["reason"] == reason


def test_example_2_restarts_several_in_one_call_and_one_message(world: World) -> None:
    response = restart({"extractedEntityIds": [100, 101, 102, 103], "reason": "manual_restart"})
    assert response.status_code == 200
    assert read(response) == {
        "requestId": sent(world)["requestId"],
        "extractedEntityIds": [100, 101, 102, 103],
        "fileHashes": ["hash1", "hash2", "hash3", "hash4"],
        "status": "accepted",
        "message": "Successfully initiated restart for 4 extraction(s)",
    }
    assert sent(world)["fileIds"] == ["hash1", "hash2", "hash3", "hash4"]


def test_example_3_restarts_what_it_can_and_names_what_was_not_found(world: World) -> None:
    response = restart({"extractedEntityIds": [200, 999, 201], "reason": "retry_failed"})
    assert response.status_code == 200
    assert read(response) == {
        "requestId": sent(world)["requestId"],
        "extractedEntityIds": [200, 201],
        "fileHashes": ["hash200", "hash201"],
        "status": "partial",
        "message": "Initiated restart for 2 extraction(s) with 1 error(s)",
        "errors": [{"extractedEntityId": 999, "error": "Extracted entity with ID 999 not found"}],
    }


def test_example_4_refuses_an_entity_that_is_processing(world: World) -> None:
    response = restart({"extractedEntityIds": [300], "reason": "manual_restart"})
    assert response.status_code == 400
    answered = read(response)
    assert UUID(answered.pop("requestId"))
    assert answered == {
        "error": "Bad Request",
        "extractedEntityIds": [],
        "fileHashes": [],
        "status": "failed",
        "message": "No valid entities to restart",
        "errors": [
            {
                "extractedEntityId": 300,
                "error": "Cannot restart entity that is currently processing",
            }
        ],
    }
    assert world.sent == []


@pytest.mark.parametrize("ids", [{"extractedEntityIds": []}, {"extractedEntityIds": None}, {}])
def test_example_5_refuses_an_empty_list(world: World, ids: Any) -> None:
    response = restart(ids)
    assert response.status_code == 400
    assert read(response) == {
        "error": "Bad Request",
        "message": "extractedEntityIds is required and must contain at least one ID",
    }


def test_example_6_refuses_more_than_a_hundred(world: World) -> None:
    response = restart({"extractedEntityIds": [*range(1, 102)]})
    assert response.status_code == 400
    assert read(response) == {
        "error": "Bad Request",
        "message": "Cannot restart more than 100 entities at once",
    }
    assert world.sent == []


# The other answers


def test_when_every_id_is_unknown_it_is_404_with_the_whole_answer(world: World) -> None:
    response = restart({"extractedEntityIds": [999999, 5]})
    assert response.status_code == 404
    answered = read(response)
    assert UUID(answered.pop("requestId"))
    assert answered == {
        "error": "Not Found",
        "extractedEntityIds": [],
        "fileHashes": [],
        "status": "failed",
        "message": "No valid entities to restart",
        "errors": [
            {"extractedEntityId": 999999, "error": "Extracted entity with ID 999999 not found"},
            {"extractedEntityId": 5, "error": "Extracted entity with ID 5 not found"},
        ],
    }


def test_when_one_is_known_and_none_may_be_restarted_it_is_400(world: World) -> None:
    response = restart({"extractedEntityIds": [999, 300]})
    assert response.status_code == 400
    assert [each["extractedEntityId"] for each in read(response)["errors"]] == [999, 300]


def test_repeats_count_as_sent_and_are_restarted_once(world: World) -> None:
    assert restart({"extractedEntityIds": [100] * 101}).status_code == 400
    response = restart({"extractedEntityIds": [101, 100] * 50})
    assert response.status_code == 200
    assert read(response)["extractedEntityIds"] == [101, 100]
    assert sent(world)["metadata"] == {"extractedEntityIds": [101, 100]}


def test_without_a_reason_it_is_a_manual_restart(world: World) -> None:
    restart({"extractedEntityIds": [100]})
    assert sent(world)["reason"] == "manual_restart"


def test_who_asks_comes_from_the_token_only(world: World) -> None:
    world.caller = Caller("console-7", "ada@example.com")
    restart({"extractedEntityIds": [100], "initiatedBy": "eve", "clientApplicationId": "x"})
    assert sent(world)["initiatedBy"] == "ada@example.com"
    assert sent(world)["clientApplicationId"] == "console-7"


def test_the_trace_of_the_caller_goes_on_with_the_event(world: World) -> None:
    restart({"extractedEntityIds": [100]}, traceparent=TRACE)
    assert world.sent[0].properties["traceparent"] == TRACE


def test_an_idempotency_key_makes_a_repeat_the_same_request(world: World) -> None:
    body = {"extractedEntityIds": [100]}
    first, again, other = (
        read(restart(body, idempotency_key=key))["requestId"] for key in ("a", "a", "b")
    )
    assert first == again != other
    assert world.sent[0].message_id == world.sent[1].message_id


def test_a_broker_out_of_reach_is_500_and_names_the_request(world: World) -> None:
    world.down.add("service bus")
    response = restart({"extractedEntityIds": [100]})
    assert response.status_code == 500
    answered = read(response)
    assert answered["error"] == "Internal Server Error"
    assert answered["message"].startswith("Failed to restart extraction")
    assert "may have started" in answered["message"]
    assert f"/v1/requests/{answered['requestId']}" in answered["message"]


def test_a_database_out_of_reach_is_503_with_a_time_to_come_back(world: World) -> None:
    world.down.add("database")
    response = restart({"extractedEntityIds": [100]})
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert world.sent == []


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (UnauthorizedError("expired"), 401),
        (ForbiddenError("The token lacks the scope EXTRACTED_ENTITIES_WRITE"), 403),
        (TransientError("key server", "the issuer's keys cannot be read"), 503),
    ],
)
def test_a_token_that_will_not_do_restarts_nothing(
    world: World, refusal: Exception, status: int
) -> None:
    world.refused = refusal
    assert restart({"extractedEntityIds": [100]}).status_code == status
    assert world.sent == []


def test_the_token_is_looked_at_before_the_body(world: World) -> None:
    world.refused = UnauthorizedError("none")
    assert restart(b"no json").status_code == 401


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"", {"transfer_encoding": "chunked"}, 411),
        (b" " * (64 * 1024 + 1), {}, 413),
        (b"{}", {"content_type": "text/plain"}, 415),
        (b"{", {}, 400),
        (b"", {}, 400),
    ],
)
def test_a_body_of_another_form_is_refused(
    world: World, body: bytes, headers: dict[str, str], status: int
) -> None:
    response = restart(body, **headers)
    assert response.status_code == status
    assert set(read(response)) == {"error", "message"}


def test_every_answer_tells_the_id_that_its_log_lines_carry(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    response = restart({"extractedEntityIds": [100]}, x_request_id="my-call")
    assert response.headers["x-request-id"] == "my-call"
    assert any('"requestId": "my-call"' in line for line in caplog.messages)
    assert any(
        line.startswith("Extraction retry event sent for 1 file(s)")
        and read(response)["requestId"] in line
        for line in caplog.messages
    )
