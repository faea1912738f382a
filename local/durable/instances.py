"""What clients do with instances: start, look at, signal, end, list and purge them."""

import sqlite3
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from local.durable import events
from local.durable.clock import Clock, timestamp
from local.durable.database import Database
from local.durable.events import FINAL_STATUSES, Event, RuntimeStatus, compact
from local.durable.messages import create_instance, delete_instance, deliver, read_history

PAGE_SIZE = 100
"""How many instances a list holds unless told."""


class UnknownInstance(Exception):
    """There is no instance of that id."""


class FinishedInstance(Exception):
    """The instance is over, so that nothing can be sent to it."""


class WrongStatus(Exception):
    """The instance's `status` doesn't allow what was asked."""

    def __init__(self, status: RuntimeStatus) -> None:
        super().__init__(status.name)
        self.status = status


@dataclass(frozen=True)
class Instance:
    """One instance.

    `input`, `output` and `custom_status` are JSON text; the output of a failed or terminated one is
    plain text. Times are timestamps.
    """

    instance_id: str
    name: str
    status: RuntimeStatus
    input: str | None
    output: str | None
    custom_status: str | None
    parent_id: str | None
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class Query:
    """Which instances: every member that is given narrows the choice.

    `first_id` is where a page begins, `page_size` how many instances it holds.
    """

    statuses: Collection[RuntimeStatus] = ()
    id_prefix: str = ""
    created_from: datetime | None = None
    created_to: datetime | None = None
    first_id: str = ""
    page_size: int = PAGE_SIZE


@dataclass(frozen=True)
class Page:
    """Instances in the order of their ids, and the id that the next page begins with."""

    instances: list[Instance]
    next_id: str | None


class Instances:
    """The instances of a store; `wake` is called with the id of each one that gets a message."""

    def __init__(self, database: Database, clock: Clock, wake: Callable[[str], None]) -> None:
        self._database = database
        self._clock = clock
        self._wake = wake

    def start(self, name: str, instance_id: str | None, input: str | None) -> str:
        """Start an orchestration; `input` is JSON text. Answers its id, made up when none is given.

        A finished instance of that id is replaced, its history with it. Raises WrongStatus when an
        unfinished one is in the way.
        """
        instance_id = instance_id or uuid.uuid4().hex
        with self._database.transaction():
            runs_before = self._database.value(
                "SELECT generation + 1 FROM instances WHERE instance_id = ?", instance_id
            )
            started = events.execution_started(
                self._clock(),
                name=name,
                instance_id=instance_id,
                execution_id=str(uuid.uuid4()),
                input=input,
                generation=runs_before or 0,
            )
            in_the_way = create_instance(self._database, started)
        if in_the_way is not None:
            raise WrongStatus(in_the_way)
        self._wake(instance_id)
        return instance_id

    def restart(self, instance_id: str, *, under_new_id: bool) -> str:
        """Start an instance's orchestration again with the same input; answers its id.

        Raises UnknownInstance, and WrongStatus when it is to keep its id but isn't finished.
        """
        before = self.find(instance_id)
        return self.start(before.name, None if under_new_id else instance_id, before.input)

    def raise_event(self, instance_id: str, name: str, input: str) -> None:
        """Send an external event; `input` is JSON text. Raises as `check_unfinished` does."""
        self._send(instance_id, events.event_raised(self._clock(), name, input))

    def terminate(self, instance_id: str, reason: str | None) -> None:
        """End an instance. Raises as `check_unfinished` does."""
        self._send(instance_id, events.execution_terminated(self._clock(), reason))

    def suspend(self, instance_id: str, reason: str | None) -> None:
        """Halt an instance. Raises WrongStatus when it is halted, else as `check_unfinished`."""
        status = self.check_unfinished(instance_id)
        if status is RuntimeStatus.Suspended:
            raise WrongStatus(status)
        self._send(instance_id, events.execution_suspended(self._clock(), reason))

    def resume(self, instance_id: str, reason: str | None) -> None:
        """Let a halted instance go on. Raises WrongStatus when it isn't halted, else as above."""
        status = self.check_unfinished(instance_id)
        if status is not RuntimeStatus.Suspended:
            raise WrongStatus(status)
        self._send(instance_id, events.execution_resumed(self._clock(), reason))

    def check_unfinished(self, instance_id: str) -> RuntimeStatus:
        """The status of an unfinished instance. Raises UnknownInstance or FinishedInstance."""
        status = self.find(instance_id).status
        if status.is_final:
            raise FinishedInstance(instance_id)
        return status

    def find(self, instance_id: str) -> Instance:
        """One instance. Raises UnknownInstance."""
        row = self._database.row(FIND, instance_id)
        if not row:
            raise UnknownInstance(instance_id)
        return _instance(row)

    def history(self, instance_id: str) -> list[Event]:
        """The stored events of an instance's current run."""
        return read_history(self._database, instance_id)

    def list(self, query: Query) -> Page:
        """One page of the instances that fit."""
        values = {
            "first": max(query.first_id, query.id_prefix),
            "below": query.id_prefix + LAST_CHARACTER,
            "created_from": query.created_from and timestamp(query.created_from),
            "created_to": query.created_to and timestamp(query.created_to),
            "statuses": compact([status.name for status in query.statuses]),
            "limit": query.page_size + 1,
        }
        rows = self._database.rows(LIST_BY_STATUS if query.statuses else LIST, values)
        instances = [_instance(row) for row in rows]
        following = instances[query.page_size :]
        return Page(instances[: query.page_size], following[0].instance_id if following else None)

    def purge(self, instance_id: str) -> None:
        """Forget a finished instance. Raises UnknownInstance, and WrongStatus for another one."""
        status = self.find(instance_id).status
        if not status.is_final:
            raise WrongStatus(status)
        with self._database.transaction():
            delete_instance(self._database, instance_id)

    def purge_all(
        self,
        created_from: datetime,
        created_to: datetime,
        statuses: Collection[RuntimeStatus] = (),
    ) -> int:
        """Forget finished instances by their creation times; answers how many there were."""
        wanted = [status.name for status in statuses or FINAL_STATUSES if status.is_final]
        with self._database.transaction():
            rows = self._database.rows(
                """
                SELECT instance_id FROM instances
                WHERE finished AND created_at BETWEEN ? AND ?
                  AND status IN (SELECT value FROM json_each(?))
                """,
                timestamp(created_from),
                timestamp(created_to),
                compact(wanted),
            )
            for row in rows:
                delete_instance(self._database, row["instance_id"])
        return len(rows)

    def _send(self, instance_id: str, event: Event) -> None:
        self.check_unfinished(instance_id)
        with self._database.transaction():
            deliver(self._database, instance_id, None, event)
        self._wake(instance_id)


LAST_CHARACTER = "\U0010ffff"

FIND = """
SELECT instance_id, name, status, input, output, custom_status, parent_id, created_at, updated_at
FROM instances WHERE instance_id = ?
"""
LIST = """
SELECT instance_id, name, status, input, output, custom_status, parent_id, created_at, updated_at
FROM instances
WHERE instance_id >= :first AND instance_id < :below
  AND created_at >= coalesce(:created_from, '') AND created_at <= coalesce(:created_to, '9')
ORDER BY instance_id LIMIT :limit
"""
LIST_BY_STATUS = """
SELECT instance_id, name, status, input, output, custom_status, parent_id, created_at, updated_at
FROM instances INDEXED BY instances_by_status
WHERE status IN (SELECT value FROM json_each(:statuses))
  AND instance_id >= :first AND instance_id < :below
  AND created_at >= coalesce(:created_from, '') AND created_at <= coalesce(:created_to, '9')
ORDER BY instance_id LIMIT :limit
"""


def _instance(row: sqlite3.Row) -> Instance:
    id, name, status, *rest = row
    return Instance(id, name, RuntimeStatus[status], *rest)
