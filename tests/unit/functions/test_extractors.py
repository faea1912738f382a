"""Operators see how extractors stand, and stop and start calling one."""

import json
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from shared import wiring
from shared.functions import extractors
from tests.database import add_extractor, empty_database
from tests.unit.services.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


def ask(function: Any, extractor: str = "101", body: Any = None) -> tuple[int, Any]:
    raw = json.dumps(body).encode() if body is not None else b""
    request = func.HttpRequest("POST", "/", route_params={"extractorId": extractor}, body=raw)
    response = function._function.get_user_function()(request)
    return response.status_code, json.loads(response.get_body())


def test_every_extractor_is_listed_with_its_state(world: World) -> None:
    add_extractor(world.sql, 102, is_active=False)
    status, answer = ask(extractors.list_extractors)
    assert status == 200
    assert [(each["extractorId"], each["isActive"]) for each in answer["extractors"]] == [
        (101, True),
        (102, False),
    ]
    assert {each["state"] for each in answer["extractors"]} == {"up"}


def test_pausing_says_who_and_why_until_it_is_resumed(world: World) -> None:
    assert ask(extractors.pause_extractor, body={"reason": "moved"}) == (
        200,
        {"extractorId": 101, "paused": True},
    )
    (paused,) = ask(extractors.list_extractors)[1]["extractors"]
    assert paused["state"] == "paused"
    assert (paused["pause"]["by"], paused["pause"]["reason"]) == ("operator@example.com", "moved")
    ask(extractors.resume_extractor, body={"reason": "done"})
    (resumed,) = ask(extractors.list_extractors)[1]["extractors"]
    assert (resumed["state"], "pause" in resumed) == ("up", False)


@pytest.mark.parametrize("function", [extractors.pause_extractor, extractors.resume_extractor])
def test_an_unknown_extractor_is_404(world: World, function: Any) -> None:
    assert ask(function, "999", {"reason": "x"})[0] == 404


@pytest.mark.parametrize("extractor", ["x", "-1", "99999999999"])
def test_an_id_that_is_none_is_400(world: World, extractor: str) -> None:
    assert ask(extractors.pause_extractor, extractor, {"reason": "x"})[0] == 400


def test_pausing_needs_a_reason(world: World) -> None:
    assert ask(extractors.pause_extractor, body={})[0] == 400
