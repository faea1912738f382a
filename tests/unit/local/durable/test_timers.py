"""When timers are due, and what happens to those of runs that are over."""

from datetime import timedelta

import pytest

from local.durable.context import TimerSet
from local.durable.database import Database
from local.durable.messages import create_instance
from local.durable.orchestrator import Run
from local.durable.timers import (
    FIRED_AT_ONCE,
    cancel_timers,
    due_time,
    fire_timers,
    next_due,
    set_timers,
)
from tests.unit.local.durable.histories import NOON, started

RUN = Run(started(), past=[], new=[started()])


@pytest.fixture
def database(store: Database) -> Database:
    """A store with the instance `it`."""
    create_instance(store, RUN.started)
    return store


def at(seconds: float, id: int = 0) -> TimerSet:
    return TimerSet(id, NOON + timedelta(seconds=seconds), cancelled=False)


@pytest.mark.parametrize(
    ("seconds", "delay"), [(-5, 0), (0, 0), (0.999, 0), (1, 1), (1.9, 1), (3600.5, 3600)]
)
def test_the_delay_is_cut_to_whole_seconds(seconds: float, delay: int) -> None:
    fire_at = NOON + timedelta(seconds=seconds)
    assert due_time(fire_at, NOON) == NOON.timestamp() + delay


def test_timers_fire_when_they_are_due_in_the_order_of_time(database: Database) -> None:
    # Given timers after one, two and three seconds
    set_timers(database, RUN, [at(3, 0), at(1, 1), at(2, 2)], NOON)
    assert next_due(database) == NOON.timestamp() + 1

    # When two seconds have gone
    woken = fire_timers(database, NOON + timedelta(seconds=2))

    # Then two have become messages, and the third is next
    assert woken == ["it", "it"]
    rows = database.rows("SELECT json_extract(event, '$.TimerId') AS id FROM inbox ORDER BY id")
    assert [row["id"] for row in rows if row["id"] is not None] == [1, 2]
    assert next_due(database) == NOON.timestamp() + 3


def test_a_cancelled_timer_does_not_fire(database: Database) -> None:
    set_timers(database, RUN, [at(1, 0), at(1, 1)], NOON)
    cancel_timers(database, RUN, {0})
    assert fire_timers(database, NOON + timedelta(seconds=1)) == ["it"]


def test_a_timer_of_an_execution_before_reaches_nobody(database: Database) -> None:
    # Given a timer of another execution of the instance
    before = started(execution_id="before")
    set_timers(database, Run(before, [], []), [at(1)], NOON)
    messages = database.value("SELECT count(*) FROM inbox")

    # When it is due
    fire_timers(database, NOON + timedelta(seconds=1))

    # Then it is gone without a message
    assert database.value("SELECT count(*) FROM inbox") == messages
    assert next_due(database) is None


def test_a_crowd_of_timers_fires_in_portions(database: Database) -> None:
    set_timers(database, RUN, [at(1, id) for id in range(FIRED_AT_ONCE + 1)], NOON)
    later = NOON + timedelta(seconds=1)
    assert len(fire_timers(database, later)) == FIRED_AT_ONCE
    assert len(fire_timers(database, later)) == 1
    assert fire_timers(database, later) == []
