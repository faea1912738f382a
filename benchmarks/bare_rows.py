"""The rows of a job in plain SQL: those that the service writes, with nothing decided."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from shared.contracts.wire import format_timestamp
from shared.domain.jobs import first_job_id

_PRAGMAS = ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON")
_TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class BareRows:
    """One connection, for one thread after the other. Each method is one transaction."""

    def __init__(self, path: Path, topic: str, extractor_id: int) -> None:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._execute = connection.execute
        self.close = connection.close
        for pragma in _PRAGMAS:
            self._execute(f"PRAGMA {pragma}")
        self._lock = threading.Lock()
        self._topic = topic
        self._extractor_id = extractor_id

    def accept(self, file_id: str) -> tuple[str, int]:
        """Make the job of an accepted file; its id, and that of its row in the outbox."""
        with self._transaction():
            of_file = "SELECT DocumentHash FROM File WHERE FileID = ?"
            [document_hash] = self._execute(of_file, (file_id,)).fetchone()
            job_id = str(first_job_id(UUID(file_id), document_hash))
            now = _now()
            self._execute(
                "INSERT INTO Job (JobID, FileID, ClientApplicationExtractorID, Status, CreatedAt,"
                " UpdatedAt, Attempt) VALUES (?, ?, ?, 'Queued', ?, ?, 1)",
                (job_id, file_id, self._extractor_id, now, now),
            )
            self._execute(
                "INSERT INTO JobCall (JobID, TraceParent, DueAt, Tries) VALUES (?, ?, ?, 0)",
                (job_id, _TRACE, now),
            )
            self._add_event(job_id, "accepted", {})
            return job_id, self._add_message(job_id, "Queued")

    def begin_call(self, job_id: str, outbox_id: int) -> None:
        """JobQueued was sent, and the lease of the call is taken."""
        with self._transaction():
            self._mark_sent(outbox_id)
            self._execute("UPDATE JobCall SET LeaseUntil = ? WHERE JobID = ?", (_now(), job_id))

    def record_call(self, job_id: str) -> None:
        """The extractor has taken the job."""
        with self._transaction():
            self._execute(
                "UPDATE JobCall SET CalledAt = ?, LeaseUntil = NULL, Tries = 1 WHERE JobID = ?",
                (_now(), job_id),
            )
            self._add_event(job_id, "call", {"outcome": "taken", "status": 202})

    def record_report(self, job_id: str, status: str, *, announce: bool) -> int | None:
        """Change an active job; the id of the row in the outbox, if it is to be announced."""
        with self._transaction():
            changed = self._execute(
                "UPDATE Job SET Status = ?, UpdatedAt = ? WHERE JobID = ?"
                " AND Status IN ('Queued', 'Started') AND Status <> ?",
                (status, _now(), job_id, status),
            )
            if not changed.rowcount:
                return None
            self._add_event(job_id, "status", {"status": status})
            return self._add_message(job_id, status) if announce else None

    def mark_sent(self, outbox_id: int) -> None:
        """The message of this row was sent."""
        with self._transaction():
            self._mark_sent(outbox_id)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            self._execute("BEGIN IMMEDIATE")
            yield
            self._execute("COMMIT")

    def _mark_sent(self, outbox_id: int) -> None:
        self._execute("UPDATE Outbox SET SentAt = ? WHERE OutboxID = ?", (_now(), outbox_id))

    def _add_event(self, job_id: str, kind: str, detail: dict[str, object]) -> None:
        self._execute(
            "INSERT INTO FileEvent (FileID, JobID, At, Kind, Source, Detail)"
            " SELECT FileID, JobID, ?, ?, 'bare', ? FROM Job WHERE JobID = ?",
            (_now(), kind, json.dumps(detail), job_id),
        )

    def _add_message(self, job_id: str, status: str) -> int:
        added = self._execute(
            "INSERT INTO Outbox (JobID, Topic, MessageID, Body, Properties, CreatedAt)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                *(job_id, self._topic, f"{job_id}:{status}", job_status(job_id, status)),
                *(json.dumps(_properties(job_id, status)), _now()),
            ),
        )
        return int(added.lastrowid or 0)


def job_status(job_id: str, status: str) -> str:
    """The body of a job status message."""
    data = {"JobID": job_id, "Timestamp": _now()}
    return json.dumps({"specversion": "1.0", "type": f"Job{status}", "data": data})


def _properties(job_id: str, status: str) -> dict[str, object]:
    return {"subject": f"Job{status}", "correlationId": job_id, "properties": {}}


def _now() -> str:
    return format_timestamp(datetime.now(UTC))
