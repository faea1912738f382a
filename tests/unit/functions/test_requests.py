"""`GET /v1/requests` and `/v1/requests/{requestId}`: what became of restarts and retries."""

from pathlib import Path
from typing import Any

import pytest

from shared import wiring
from shared.auth import ForbiddenError
from shared.functions.requests import get_request, list_requests
from tests.database import empty_database
from tests.unit.functions.endpoints import ask, read
from tests.unit.services.world import REFUSED, World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The file's first extraction was refused, a minute ago."""
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    world.answers = [REFUSED]
    world.calls(world.accepted())
    world.passes(minutes=1)
    return world


def ids(**params: str) -> list[str]:
    return [each["requestId"] for each in read(ask(list_requests, params=params))["requests"]]


def test_a_request_that_has_not_arrived_is_404_and_tells_when_to_come_back(world: World) -> None:
    response = ask(get_request, requestId="r1")
    assert response.status_code == 404
    assert int(response.headers["Retry-After"]) > 0
    assert "takes a moment" in read(response)["message"]


def test_a_request_is_told_with_every_attempt_and_file(world: World) -> None:
    hash_ = world.file.document_hash
    (first,) = world.retried("unknown", hash_).jobs
    world.passes(seconds=5)
    world.reported(first, "JobFailed", ErrorMessage="no text")
    world.send_outbox(first.job_id)
    world.mapped()
    asked = {
        "requestId": "r1",
        "reason": "manual_restart",
        "initiatedBy": "ada@example.com",
        "clientApplicationId": "client-a",
        "requestedAt": "2026-01-01T12:01:00.000Z",
        "maxRetries": 3,
    }
    failed = {
        "retryAttempt": 1,
        "startedAt": "2026-01-01T12:01:00.000Z",
        "endedAt": "2026-01-01T12:01:05.000Z",
        "files": [
            {
                "fileId": "unknown",
                "outcome": "failed",
                "error": "File with ID unknown not found",
            },
            {
                "fileId": hash_,
                "outcome": "failed",
                "error": "no text",
                "jobId": str(first.job_id),
            },
        ],
    }
    waiting = ask(get_request, requestId="r1")
    assert waiting.status_code == 200
    assert read(waiting) == asked | {
        "state": "waiting",
        "nextAttemptAt": "2026-01-01T12:01:35.000Z",
        "attempts": [failed],
    }

    world.passes(seconds=31)
    (second,) = world.retried(hash_, attempt=2).jobs
    world.reported(second, "JobSucceeded")

    assert read(ask(get_request, requestId="r1")) == asked | {
        "state": "partial",
        "attempts": [
            failed,
            {
                "retryAttempt": 2,
                "startedAt": "2026-01-01T12:01:36.000Z",
                "endedAt": "2026-01-01T12:01:36.000Z",
                "files": [
                    {"fileId": hash_, "outcome": "succeeded", "jobId": str(second.job_id)},
                ],
            },
        ],
    }


def test_an_attempt_that_runs_has_no_end(world: World) -> None:
    (job,) = world.retried().jobs
    (attempt,) = read(ask(get_request, requestId="r1"))["attempts"]
    assert attempt == {
        "retryAttempt": 1,
        "startedAt": "2026-01-01T12:01:00.000Z",
        "files": [
            {"fileId": world.file.document_hash, "outcome": "pending", "jobId": str(job.job_id)}
        ],
    }


def test_requests_are_listed_newest_first_without_their_attempts(world: World) -> None:
    world.retried("unknown", request="old")
    world.passes(minutes=1)
    world.retried(request="new")
    answered = read(ask(list_requests))
    assert [each["requestId"] for each in answered["requests"]] == ["new", "old"]
    assert answered["requests"][1] == {
        "requestId": "old",
        "state": "failed",
        "reason": "manual_restart",
        "initiatedBy": "ada@example.com",
        "clientApplicationId": "client-a",
        "requestedAt": "2026-01-01T12:01:00.000Z",
        "maxRetries": 3,
    }


def test_requests_are_filtered_by_whom_since_and_state(world: World) -> None:
    world.retried("unknown", request="old")
    world.passes(minutes=1)
    world.retried(request="new")
    assert ids(initiatedBy="ada@example.com") == ["new", "old"]
    assert ids(initiatedBy="system") == []
    assert ids(since="2026-01-01T12:02:00Z") == ["new"]
    assert ids(since="2026-01-01T14:01:30+02:00") == ["new"]
    assert ids(state="failed") == ["old"]
    assert ids(state="queued", since="2026-01-01T12:02:00Z") == ["new"]
    assert ids(unknown="x") == ["new", "old"]


@pytest.mark.parametrize(
    "params",
    [
        {"state": "lost"},
        {"since": "yesterday"},
        {"since": "2026-01-01"},
        {"since": "2026-01-01T12:00:00"},
        {"initiatedBy": "x" * 321},
    ],
)
def test_a_filter_that_makes_no_sense_is_400_and_named(world: World, params: Any) -> None:
    response = ask(list_requests, params=params)
    assert response.status_code == 400
    assert [each["field"] for each in read(response)["details"]] == list(params)


@pytest.mark.parametrize("function", [list_requests, get_request])
def test_what_stands_in_the_way_is_told(world: World, function: Any) -> None:
    world.down.add("database")
    assert ask(function, requestId="r1").status_code == 503
    world.refused = ForbiddenError("The token lacks the scope EXTRACTED_ENTITIES_READ")
    assert ask(function, requestId="r1").status_code == 403
