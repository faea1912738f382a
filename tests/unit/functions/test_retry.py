"""`POST /v1/retry/{fileId}` and `/v1/retry/batch`: files are extracted again."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared import wiring
from shared.auth import Caller, ForbiddenError, UnauthorizedError
from shared.functions.retry import retry_batch, retry_file
from tests.database import empty_database
from tests.unit.functions.endpoints import ask, read
from tests.unit.services.world import TRACE, World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


def sent(world: World) -> dict[str, Any]:
    """The one event that went out."""
    (message,) = world.sent
    event: dict[str, Any] = json.loads(message.body)
    return event


def test_a_file_is_queued_to_be_extracted_again(world: World) -> None:
    world.caller = Caller("web-console", "ada@example.com")
    response = ask(retry_file, {"reason": "looks wrong"}, {"traceparent": TRACE}, fileId="abc123")
    assert response.status_code == 202
    assert read(response) == {
        "requestId": sent(world)["requestId"],
        "fileId": "abc123",
        "status": "queued",
    }
    assert sent(world) == {
        "requestId": sent(world)["requestId"],
        "fileIds": ["abc123"],
        "reason": "looks wrong",
        "retryAttempt": 1,
        "maxRetries": 3,
        "clientApplicationId": "web-console",
        "initiatedBy": "ada@example.com",
        "timestamp": "2026-01-01T12:00:00.000Z",
    }
    assert world.sent[0].properties["traceparent"] == TRACE


@pytest.mark.parametrize("body", [b"", b"{}", b' {"initiatedBy": "eve"} '])
def test_a_file_needs_no_body_and_takes_nobodys_word_for_who_asks(
    world: World, body: bytes
) -> None:
    assert ask(retry_file, body, fileId="abc123").status_code == 202
    assert sent(world)["reason"] == "manual_retry"
    assert sent(world)["initiatedBy"] == world.caller.initiated_by


def test_a_batch_is_one_request_with_each_file_once(world: World) -> None:
    response = ask(retry_batch, {"fileIds": ["b", "a", "b"], "reason": "after the outage"})
    assert response.status_code == 202
    assert read(response) == {
        "requestId": sent(world)["requestId"],
        "fileIds": ["b", "a"],
        "count": 2,
        "status": "queued",
    }
    assert sent(world)["fileIds"] == ["b", "a"]
    assert sent(world)["reason"] == "after the outage"


def test_a_batch_holds_up_to_a_hundred_files(world: World) -> None:
    hashes = [f"{number:064x}" for number in range(100)]
    assert ask(retry_batch, {"fileIds": hashes}).status_code == 202
    assert sent(world)["fileIds"] == hashes


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "fileIds is required and must contain at least one ID"),
        ({"fileIds": []}, "fileIds is required and must contain at least one ID"),
        ({"fileIds": ["a"] * 101}, "Cannot retry more than 100 files at once"),
    ],
)
def test_a_batch_of_none_or_too_many_is_refused(world: World, body: Any, message: str) -> None:
    response = ask(retry_batch, body)
    assert response.status_code == 400
    assert read(response) == {"error": "Bad Request", "message": message}
    assert world.sent == []


@pytest.mark.parametrize("file_id", ["", " a", "a\n", "naïve", "f" * 129, 5, None, ["a"]])
def test_an_id_that_is_none_is_named_by_its_place(world: World, file_id: Any) -> None:
    response = ask(retry_batch, {"fileIds": ["good", file_id]})
    assert response.status_code == 400
    assert read(response)["details"][0]["field"].startswith("fileIds.1")
    assert world.sent == []


@pytest.mark.parametrize("file_id", ["batch", "Batch", "f" * 129, "naïve"])
def test_a_path_that_names_no_file_is_refused(world: World, file_id: str) -> None:
    response = ask(retry_file, b"", fileId=file_id)
    assert response.status_code == 400
    assert read(response)["message"].startswith("fileId: ")
    assert world.sent == []


@pytest.mark.parametrize(
    ("function", "route"), [(retry_batch, {}), (retry_file, {"fileId": "abc123"})]
)
def test_what_stands_in_the_way_is_told_and_nothing_is_sent(
    world: World, function: Any, route: dict[str, str]
) -> None:
    body = {"fileIds": ["a"]}
    world.down.add("service bus")
    assert ask(function, body, **route).status_code == 503
    world.down.clear()
    world.refused = UnauthorizedError("expired")
    assert ask(function, body, **route).status_code == 401
    world.refused = ForbiddenError("The token lacks the role Administrator or User")
    assert ask(function, body, **route).status_code == 403
    assert world.sent == []


def test_the_batch_comes_before_the_file_in_the_order_of_function_names() -> None:
    names = [each._function.get_function_name() for each in (retry_file, retry_batch)]
    assert sorted(names) == ["retry_batch", "retry_file"]
