"""Instances that have messages: one episode handles all that one instance has got.

What comes of an episode is one transaction, guarded by the execution id and by the lease, so that a
late outcome of a stopped engine changes nothing.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from local.durable.activities import queue_activities
from local.durable.clock import timestamp
from local.durable.database import Database
from local.durable.events import EventType, compact, orchestrator_started
from local.durable.messages import (
    create_instance,
    deliver,
    forget_pending,
    read_history,
)
from local.durable.orchestrator import Outcome, Run
from local.durable.timers import cancel_timers, set_timers


@dataclass(frozen=True)
class Episode:
    """A run that has messages, leased; the messages up to `last_message` are in it."""

    run: Run
    last_message: int


class Episodes:
    """The instances as one engine sees them; `lease` is that engine's mark."""

    def __init__(self, database: Database, lease: str) -> None:
        self._database = database
        self._lease = lease

    def take_over(self) -> list[str]:
        """End the leases of an engine before; answers the instances that have messages."""
        with self._database.transaction():
            self._database.execute("UPDATE instances SET lease = NULL WHERE lease IS NOT NULL")
            rows = self._database.rows(
                "SELECT instance_id FROM inbox GROUP BY instance_id ORDER BY min(id)"
            )
        return [row["instance_id"] for row in rows]

    def release(self) -> None:
        """Give back what is under way."""
        self._database.execute("UPDATE instances SET lease = NULL WHERE lease = ?", self._lease)

    def is_waiting(self, instance_id: str) -> bool:
        """Whether the instance has messages."""
        sql = "SELECT 1 FROM inbox WHERE instance_id = ? LIMIT 1"
        return self._database.row(sql, instance_id) is not None

    def begin(self, instance_id: str, now: datetime) -> Episode | None:
        """Lease an instance and batch its messages; None when there is nothing for it."""
        with self._database.transaction():
            rows = self._database.rows(
                "SELECT id, execution_id, event FROM inbox WHERE instance_id = ? ORDER BY id",
                instance_id,
            )
            execution_id = self._database.value(
                "SELECT execution_id FROM instances WHERE instance_id = ?", instance_id
            )
            # Answers and timers of an execution that is over reach nobody.
            fitting = [row for row in rows if row["execution_id"] in (None, execution_id)]
            if not fitting:
                self._database.execute("DELETE FROM inbox WHERE instance_id = ?", instance_id)
                return None
            self._database.execute(
                "UPDATE instances SET lease = ? WHERE instance_id = ?", self._lease, instance_id
            )
            past = read_history(self._database, instance_id)
        messages = [json.loads(row["event"]) for row in fitting]
        new = [orchestrator_started(now), *messages]
        started = next(
            event
            for event in (*past, *messages)
            if event["EventType"] == EventType.EXECUTION_STARTED
        )
        return Episode(Run(started, past, new), last_message=rows[-1]["id"])

    def finish(
        self, episode: Episode, outcomes: Sequence[Outcome], now: datetime
    ) -> list[str] | None:
        """Store what came of an episode: one outcome, and one more for each continue-as-new.

        Answers the other instances that got a message; None when the lease is lost, and then
        nothing is stored.
        """
        instance_id = episode.run.instance_id
        with self._database.transaction():
            if not self._store_instance(episode, outcomes[-1], now):
                return None
            self._store_history(episode, outcomes)
            self._database.execute(
                "DELETE FROM inbox WHERE instance_id = ? AND id <= ?",
                instance_id,
                episode.last_message,
            )
            woken = [id for outcome in outcomes for id in self._send(outcome, now)]
            if outcomes[-1].status.is_final:
                forget_pending(self._database, instance_id)
        return woken

    def _store_instance(self, episode: Episode, outcome: Outcome, now: datetime) -> bool:
        return bool(
            self._database.execute(
                """
                UPDATE instances
                SET lease = NULL, execution_id = ?1, status = ?2, finished = ?3, input = ?4,
                    output = CASE WHEN ?3 THEN ?5 ELSE coalesce(?5, output) END,
                    custom_status = ?6, updated_at = ?7
                WHERE instance_id = ?8 AND execution_id = ?9 AND lease = ?10
                """,
                outcome.run.execution_id,
                outcome.status.name,
                outcome.status.is_final,
                outcome.run.input,
                outcome.output,
                outcome.custom_status,
                timestamp(now),
                episode.run.instance_id,
                episode.run.execution_id,
                self._lease,
            )
        )

    def _store_history(self, episode: Episode, outcomes: Sequence[Outcome]) -> None:
        instance_id = episode.run.instance_id
        first = len(episode.run.past)
        if len(outcomes) > 1:
            self._database.execute("DELETE FROM history WHERE instance_id = ?", instance_id)
            first = 0
        self._database.execute_many(
            "INSERT INTO history (instance_id, sequence, event) VALUES (?, ?, ?)",
            [
                (instance_id, sequence, compact(event))
                for sequence, event in enumerate(outcomes[-1].appended, first)
            ],
        )

    def _send(self, outcome: Outcome, now: datetime) -> list[str]:
        queue_activities(self._database, outcome.run, outcome.activities, now)
        set_timers(self._database, outcome.run, outcome.timers, now)
        cancel_timers(self._database, outcome.run, outcome.cancelled_timers)
        woken = [
            child["OrchestrationInstance"]["InstanceId"]
            for child in outcome.children
            if create_instance(self._database, child) is None
        ]
        reply = outcome.reply
        if reply and deliver(self._database, reply.instance_id, reply.execution_id, reply.event):
            woken.append(reply.instance_id)
        return woken
