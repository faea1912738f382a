"""Whether the app lives, and what it cannot reach."""

import json
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from shared import wiring
from shared.functions import health
from tests.database import empty_database
from tests.unit.services.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


def ask(function: Any) -> tuple[int, Any]:
    response = function._function.get_user_function()(func.HttpRequest("GET", "/", body=b""))
    return response.status_code, json.loads(response.get_body())


def test_an_app_that_lives_says_what_it_is_whatever_is_down(world: World) -> None:
    world.down |= {"database", "service bus"}
    live = {"status": "live", "version": "1.2.3", "commit": "abc"}
    assert ask(health.health_live) == (200, live)


def test_with_every_part_within_reach_it_is_ready(world: World) -> None:
    status, answer = ask(health.health_ready)
    assert (status, answer["status"]) == (200, "ready")
    assert {part["state"] for part in answer["parts"].values()} == {"up"}
    assert "down" not in answer


def test_before_its_first_pass_nothing_is_told_of_reconciliation(world: World) -> None:
    assert "reconciliation" not in ask(health.health_ready)[1]


def test_what_reconciliation_has_mended_is_told_with_its_times(world: World) -> None:
    world.reconcile.count({"outboxesSent": 2, "jobsExpired": 0})
    world.passes(minutes=5)
    world.reconcile.count({})
    assert ask(health.health_ready)[1]["reconciliation"] == {
        "passes": 2,
        "lastPass": "2026-01-01T12:05:00.000Z",
        "mended": {"outboxesSent": {"count": 2, "last": "2026-01-01T12:00:00.000Z"}},
    }


def test_without_the_database_it_is_left_out(world: World) -> None:
    world.reconcile.count({"outboxesSent": 2})
    world.down.add("database")
    status, answer = ask(health.health_ready)
    assert status == 503
    assert "reconciliation" not in answer


def test_what_is_down_is_named_with_its_last_success(world: World) -> None:
    ask(health.health_ready)
    world.passes(seconds=10)
    world.down.add("service bus")
    status, answer = ask(health.health_ready)
    assert (status, answer["down"]) == (503, ["service bus"])
    assert answer["parts"]["service bus"] == {
        "state": "down",
        "lastSuccess": "2026-01-01T12:00:00.000Z",
    }
    assert answer["parts"]["database"]["lastSuccess"] == "2026-01-01T12:00:10.000Z"


def test_a_part_that_was_never_reached_has_no_last_success(world: World) -> None:
    world.down.add("database")
    assert ask(health.health_ready)[1]["parts"]["database"] == {"state": "down"}


def test_probes_that_come_often_are_no_load(world: World) -> None:
    ask(health.health_ready)
    taken = world.steps.taken
    ask(health.health_ready)
    assert world.steps.taken == taken
    world.passes(seconds=5)
    ask(health.health_ready)
    assert world.steps.taken > taken
