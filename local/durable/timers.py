"""Durable timers. The index over their due times is the heap; nothing of them is in memory."""

import json
from collections.abc import Iterable
from datetime import datetime

from local.durable.context import TimerSet
from local.durable.database import Database
from local.durable.events import compact, timer_fired
from local.durable.messages import deliver
from local.durable.orchestrator import Run

FIRED_AT_ONCE = 200
"""How many timers one transaction fires at most."""


def set_timers(database: Database, run: Run, timers: Iterable[TimerSet], now: datetime) -> None:
    """Store timers of a run."""
    database.execute_many(
        """
        INSERT INTO timers (instance_id, execution_id, timer_id, due_at, event)
        VALUES (?, ?, ?, ?, ?)
        """,
        [
            (
                run.instance_id,
                run.execution_id,
                timer.id,
                due_time(timer.fire_at, now),
                compact(timer_fired(now, timer.id, timer.fire_at)),
            )
            for timer in timers
        ],
    )


def due_time(fire_at: datetime, now: datetime) -> float:
    """When a timer fires, in seconds since the epoch.

    The delay is cut to whole seconds, as the storage queues behind the real host do it: a timer can
    fire almost a second early, and one that is due within a second fires at once.
    """
    return now.timestamp() + max(0, int((fire_at - now).total_seconds()))


def cancel_timers(database: Database, run: Run, timer_ids: Iterable[int]) -> None:
    """Forget timers of a run; those that fired already have left a message."""
    database.execute_many(
        "DELETE FROM timers WHERE instance_id = ? AND timer_id = ? AND execution_id = ?",
        [(run.instance_id, timer_id, run.execution_id) for timer_id in timer_ids],
    )


def fire_timers(database: Database, now: datetime) -> list[str]:
    """Turn timers that are due into messages; answers the instances that got one."""
    with database.transaction():
        due = database.rows(
            """
            SELECT id, instance_id, execution_id, event FROM timers
            WHERE due_at <= ? ORDER BY due_at, id LIMIT ?
            """,
            now.timestamp(),
            FIRED_AT_ONCE,
        )
        for timer in due:
            event = json.loads(timer["event"])
            deliver(database, timer["instance_id"], timer["execution_id"], event)
        database.execute_many("DELETE FROM timers WHERE id = ?", [(timer["id"],) for timer in due])
    return [timer["instance_id"] for timer in due]


def next_due(database: Database) -> float | None:
    """When the next timer fires, in seconds since the epoch."""
    due: float | None = database.value("SELECT min(due_at) FROM timers")
    return due
