"""The database as it is, in plain SQL: the check does not believe the app's own code."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from local.supervisor.environment import database_path

ACTIVE = {"Queued", "Started"}
ENDS = {"Succeeded", "Failed", "Cancelled"}


@dataclass(frozen=True)
class JobRow:
    """A row of Job."""

    job_id: str
    file_id: str
    status: str
    attempt: int
    created: datetime
    completed: datetime | None

    @property
    def active(self) -> bool:
        return self.status in ACTIVE

    def was_active(self, moment: datetime) -> bool:
        return self.created <= moment and (self.completed is None or moment < self.completed)


@dataclass(frozen=True)
class Note:
    """A row of FileEvent."""

    job_id: str
    at: datetime
    detail: dict[str, Any]


class Rows:
    """Reads only, and waits for no lock. Times are aware UTC."""

    def __init__(self, path: Path) -> None:
        self._address = f"file:{path}?mode=ro"

    def jobs(self) -> Sequence[JobRow]:
        """All jobs, in the order in which they were made."""
        found = self._read(
            "SELECT JobID, FileID, Status, Attempt, CreatedAt, CompletedAt FROM Job"
            " ORDER BY CreatedAt, Attempt"
        )
        return [
            JobRow(job_id, file_id, status, attempt, _time(created), completed and _time(completed))
            for job_id, file_id, status, attempt, created, completed in found
        ]

    def ended_files(self) -> set[str]:
        """Files whose first job has ended."""
        rows = self._read("SELECT FileID FROM Job WHERE Attempt = 1 AND CompletedAt IS NOT NULL")
        return {file_id for (file_id,) in rows}

    def notes(self, kind: str) -> Sequence[Note]:
        """What was written down of jobs, in the order in which it was."""
        rows = self._read(
            "SELECT JobID, At, Detail FROM FileEvent WHERE Kind = ? AND JobID IS NOT NULL"
            " ORDER BY FileEventID",
            kind,
        )
        return [Note(job_id, _time(at), json.loads(detail)) for job_id, at, detail in rows]

    def unsent(self) -> Sequence[str]:
        """The ids of messages that still stand in the outbox."""
        return self._texts("SELECT MessageID FROM Outbox WHERE SentAt IS NULL")

    def undecided(self) -> Sequence[str]:
        """Files of retries that wait for a job, by request and attempt."""
        return self._texts(
            "SELECT RequestID || ' ' || RetryAttempt FROM RetryFile WHERE DecidedAt IS NULL"
        )

    def open_attempts(self) -> Sequence[str]:
        """Attempts of retries that are not closed."""
        return self._texts(
            "SELECT RequestID || ' ' || RetryAttempt FROM RetryRequest WHERE ClosedAt IS NULL"
        )

    def count(self, condition: str) -> int:
        """How many jobs, with their calls, fit an SQL condition."""
        sql = f"SELECT COUNT(*) FROM Job JOIN JobCall USING (JobID) WHERE {condition}"
        return int(self._read(sql)[0][0])

    def _texts(self, sql: str) -> Sequence[str]:
        return [text for (text,) in self._read(sql)]

    def _read(self, sql: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self._address, uri=True, timeout=10)) as database:
            return database.execute(sql, values).fetchall()


def rows_of(data: Path) -> Rows:
    """The database in a data folder."""
    return Rows(database_path(data))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
