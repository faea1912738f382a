"""Leases on activities."""

from datetime import timedelta

import pytest

from local.durable.activities import Activities, queue_activities
from local.durable.context import ActivityCall
from local.durable.database import Database
from local.durable.messages import create_instance
from local.durable.orchestrator import Run
from tests.unit.local.durable.histories import NOON, completed, started

VISIBILITY = timedelta(minutes=5)
RUN = Run(started(), past=[], new=[started()])


@pytest.fixture
def database(store: Database) -> Database:
    """A store with three activities of the instance `it`."""
    create_instance(store, RUN.started)
    calls = [ActivityCall(id, f"act-{id}", "1") for id in range(3)]
    queue_activities(store, RUN, calls, NOON)
    return store


def answers(database: Database) -> int:
    """How many answers wait for the instance."""
    sql = "SELECT count(*) FROM inbox WHERE json_extract(event, '$.EventType') = 5"
    return int(database.value(sql))


def test_the_oldest_are_taken_first_and_only_once(database: Database) -> None:
    activities = Activities(database, "mine", VISIBILITY)
    assert [one.name for one in activities.take(2, NOON, set())] == ["act-0", "act-1"]
    assert [one.name for one in activities.take(2, NOON, set())] == ["act-2"]
    assert activities.take(2, NOON, set()) == []


def test_an_activity_is_visible_again_when_its_lease_runs_out(database: Database) -> None:
    # Given an activity that a host took and never finished
    (taken, *_) = Activities(database, "dead", VISIBILITY).take(3, NOON, set())
    mine = Activities(database, "mine", VISIBILITY)
    assert mine.next_visible(NOON) == (NOON + VISIBILITY).timestamp()

    # Then another can take it after five minutes, and not before
    assert mine.take(3, NOON + VISIBILITY - timedelta(seconds=1), set()) == []
    (again, *_) = mine.take(3, NOON + VISIBILITY, set())
    assert again == taken


def test_what_is_running_here_is_not_taken_again(database: Database) -> None:
    activities = Activities(database, "mine", VISIBILITY)
    running = {one.id for one in activities.take(2, NOON, set())}
    late = activities.take(5, NOON + VISIBILITY, running)
    assert [one.name for one in late] == ["act-2"]


def test_renewing_keeps_what_is_running_invisible(database: Database) -> None:
    # Given three activities of which two are still running after four minutes
    activities = Activities(database, "mine", VISIBILITY)
    first, second, _ = activities.take(3, NOON, set())
    activities.renew(NOON + timedelta(minutes=4), {first.id, second.id})

    # Then only the third is visible after five
    (again,) = activities.take(3, NOON + timedelta(minutes=6), set())
    assert again.name == "act-2"


def test_released_activities_are_visible_at_once(database: Database) -> None:
    activities = Activities(database, "mine", VISIBILITY)
    activities.take(3, NOON, set())
    activities.release(NOON)
    assert len(Activities(database, "next", VISIBILITY).take(3, NOON, set())) == 3


def test_an_answer_counts_once(database: Database) -> None:
    activities = Activities(database, "mine", VISIBILITY)
    (taken, *_) = activities.take(1, NOON, set())
    assert activities.finish(taken, completed(0))
    assert not activities.finish(taken, completed(0))
    assert answers(database) == 1


def test_the_answer_of_a_lost_lease_does_not_count(database: Database) -> None:
    # Given an activity that was taken over
    slow = Activities(database, "slow", VISIBILITY)
    (taken, *_) = slow.take(1, NOON, set())
    mine = Activities(database, "mine", VISIBILITY)
    mine.take(3, NOON + VISIBILITY, set())

    # Then only the one who took it over can finish it
    assert not slow.finish(taken, completed(0))
    assert answers(database) == 0
    assert mine.finish(taken, completed(0))


def test_the_answer_for_an_execution_before_is_dropped(database: Database) -> None:
    activities = Activities(database, "mine", VISIBILITY)
    (taken, *_) = activities.take(1, NOON, set())
    database.execute("UPDATE instances SET execution_id = 'another'")
    assert not activities.finish(taken, completed(0))
    assert answers(database) == 0
