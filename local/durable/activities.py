"""Activities that are queued or under way.

Each runs under a lease; when that runs out, the activity is visible again and runs once more. So it
runs at least once, and its answer counts once.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from local.durable.context import ActivityCall
from local.durable.database import Database
from local.durable.events import Event
from local.durable.messages import deliver
from local.durable.orchestrator import Run


@dataclass(frozen=True)
class LeasedActivity:
    """An activity to run now; `input` is JSON text."""

    id: int
    instance_id: str
    execution_id: str
    task_id: int
    name: str
    input: str


def queue_activities(
    database: Database, run: Run, calls: Iterable[ActivityCall], now: datetime
) -> None:
    """Store calls of a run, visible at once."""
    database.execute_many(
        """
        INSERT INTO activities (instance_id, execution_id, task_id, name, input, visible_at)
        VALUES (?, ?, ?, ?, ?, ?)
        """,
        [
            (run.instance_id, run.execution_id, call.id, call.name, call.input, now.timestamp())
            for call in calls
        ],
    )


class Activities:
    """The queue as one engine sees it; `lease` is that engine's mark."""

    def __init__(self, database: Database, lease: str, visibility: timedelta) -> None:
        self._database = database
        self._lease = lease
        self._visibility = visibility

    def take(self, limit: int, now: datetime, running: Collection[int]) -> list[LeasedActivity]:
        """Lease the oldest visible ones, except for those that are `running` here."""
        with self._database.transaction():
            rows = self._database.rows(
                """
                SELECT id, instance_id, execution_id, task_id, name, input FROM activities
                WHERE visible_at <= ? ORDER BY visible_at, id LIMIT ?
                """,
                now.timestamp(),
                limit + len(running),
            )
            taken = [LeasedActivity(*row) for row in rows if row["id"] not in running][:limit]
            self._database.execute_many(
                "UPDATE activities SET lease = ?, visible_at = ? WHERE id = ?",
                [(self._lease, self._until(now), activity.id) for activity in taken],
            )
        return taken

    def renew(self, now: datetime, running: Collection[int]) -> None:
        """Keep those that are `running` here invisible."""
        with self._database.transaction():
            self._database.execute_many(
                "UPDATE activities SET visible_at = ? WHERE id = ? AND lease = ?",
                [(self._until(now), id, self._lease) for id in running],
            )

    def finish(self, activity: LeasedActivity, answer: Event) -> bool:
        """Send the answer to the run that asked; False when the lease is lost or nobody waits."""
        with self._database.transaction():
            return bool(
                self._database.execute(
                    "DELETE FROM activities WHERE id = ? AND lease = ?", activity.id, self._lease
                )
            ) and deliver(self._database, activity.instance_id, activity.execution_id, answer)

    def release(self, now: datetime) -> None:
        """Make what is under way visible at once."""
        self._database.execute(
            "UPDATE activities SET lease = NULL, visible_at = ? WHERE lease = ?",
            now.timestamp(),
            self._lease,
        )

    def next_visible(self, now: datetime) -> float | None:
        """When the next invisible one becomes visible, in seconds since the epoch."""
        due: float | None = self._database.value(
            "SELECT min(visible_at) FROM activities WHERE visible_at > ?", now.timestamp()
        )
        return due

    def _until(self, now: datetime) -> float:
        return (now + self._visibility).timestamp()
