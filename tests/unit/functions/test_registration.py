"""The registration endpoint, and the edge that turns errors into answers."""

import json
from pathlib import Path

import azure.functions as func
import pytest

from shared import wiring
from shared.auth import ForbiddenError, UnauthorizedError
from shared.functions import registration
from tests.database import add_extractor, empty_database
from tests.unit.services.world import World

get = registration.get_extractors._function.get_user_function()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


def request(client: str = "client-a", token: str | None = "good") -> func.HttpRequest:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return func.HttpRequest(
        "GET", "/", headers=headers, route_params={"clientAppId": client}, body=b""
    )


def test_the_active_extractors_are_answered_lowest_id_first(world: World) -> None:
    add_extractor(world.sql, 100, extraction_url="https://first.example")
    add_extractor(world.sql, 102, is_active=False)
    response = get(request())
    assert response.status_code == 200
    assert response.mimetype == "application/json"
    assert [row["clientApplicationExtractorId"] for row in json.loads(response.get_body())] == [
        100,
        101,
    ]


def test_an_unknown_client_has_no_extractors(world: World) -> None:
    assert json.loads(get(request("nobody")).get_body()) == []


@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (UnauthorizedError("expired at 12:00"), 401, ("WWW-Authenticate", "Bearer")),
        (ForbiddenError("The role REGISTRATION_READ is missing"), 403, None),
    ],
)
def test_a_token_that_will_not_do_is_refused_in_json(
    world: World, error: Exception, status: int, header: tuple[str, str] | None
) -> None:
    world.refused = error
    response = get(request())
    body = json.loads(response.get_body())
    assert response.status_code == status
    assert set(body) == {"error", "message"}
    assert "12:00" not in body["message"]
    assert header is None or response.headers[header[0]] == header[1]


def test_a_database_out_of_reach_is_503_with_a_time_to_come_back(world: World) -> None:
    world.down.add("database")
    response = get(request())
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert "database" in json.loads(response.get_body())["message"]


def test_a_fault_of_ours_says_nothing_of_the_inside(world: World) -> None:
    world.refused = KeyError("secret table")
    response = get(request())
    assert response.status_code == 500
    assert b"secret" not in response.get_body()
