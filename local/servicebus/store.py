"""Everything that outlives the process: one SQLite file, written in transactions.

A commit reaches the operating system before anything is answered, so a killed process loses
nothing. `synchronous=NORMAL` leaves flushing to the disk to checkpoints: only a power failure
could take the last commits, and never damages the file.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, cast
from uuid import UUID

FILE_NAME = "servicebus.sqlite3"
SCHEMA_VERSION = 1
LOCK_WAIT_SECONDS = 1.0
"""How long the start waits for a broker that is just ending to let go of the file."""

_SCHEMA = """
CREATE TABLE entity (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE
);
CREATE TABLE message (
    sequence_number INTEGER PRIMARY KEY AUTOINCREMENT,
    entity INTEGER NOT NULL,
    state INTEGER NOT NULL,
    delivery_count INTEGER NOT NULL,
    enqueued INTEGER NOT NULL,
    time_to_live INTEGER,
    expires INTEGER,
    lock_token BLOB,
    due INTEGER,
    content BLOB NOT NULL
);
CREATE INDEX message_by_entity ON message (entity, sequence_number);
CREATE INDEX message_ready ON message (entity, sequence_number)
    WHERE state = 0 AND lock_token IS NULL;
CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;
CREATE UNIQUE INDEX message_locked ON message (lock_token) WHERE lock_token IS NOT NULL;
CREATE TABLE seen (
    topic INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (topic, message_id)
) WITHOUT ROWID;
CREATE INDEX seen_until ON seen (until);
"""


class StoreError(Exception):
    """The data folder cannot be used; the message says why."""


class State(IntEnum):
    """States of a message, numbered as on the wire (`x-opt-message-state`)."""

    ACTIVE = 0
    DEFERRED = 1
    SCHEDULED = 2


class Entry(NamedTuple):
    """One stored message without its bytes; times in milliseconds.

    `due` is when time acts on it next: the end of its lock while it is locked, else its expiry
    while it is active, the moment to publish it while it is scheduled.
    """

    sequence_number: int
    entity: int
    state: int
    delivery_count: int
    enqueued: int
    time_to_live: int | None
    expires: int | None
    lock_token: bytes | None
    due: int | None


_ENTRY = ", ".join(Entry._fields)


class Store:
    """The statements of the broker. Each needs an open `transaction` unless it only reads."""

    def __init__(self, folder: Path) -> None:
        """Open the file in `folder`, made if missing; raises StoreError."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE_NAME
        self._database = sqlite3.connect(self.path, timeout=LOCK_WAIT_SECONDS, isolation_level=None)
        try:
            self._open()
        except sqlite3.Error as error:
            self._database.close()
            raise StoreError(f"{self.path}: {error}") from error
        except StoreError:
            self._database.close()
            raise

    def _open(self) -> None:
        execute = self._database.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")
        version = execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not execute("SELECT 1 FROM sqlite_schema").fetchone():
            self._database.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        elif version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} holds schema version {version}, this Service Bus reads version "
                f"{SCHEMA_VERSION}: start it with an empty folder"
            )

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block wrote, or nothing of it when it raises."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    # Entities

    def entities(self) -> dict[str, int]:
        """The id of every known address."""
        return dict(self._database.execute("SELECT address, id FROM entity").fetchall())

    def add_entity(self, address: str) -> int:
        cursor = self._database.execute("INSERT INTO entity (address) VALUES (?)", (address,))
        return cast(int, cursor.lastrowid)

    def remove_entity(self, entity: int) -> int:
        """Remove an entity with its messages; answers how many those were."""
        self._database.execute("DELETE FROM seen WHERE topic = ?", (entity,))
        cursor = self._database.execute("DELETE FROM message WHERE entity = ?", (entity,))
        self._database.execute("DELETE FROM entity WHERE id = ?", (entity,))
        return cursor.rowcount

    # Messages

    def add(
        self,
        entity: int,
        content: bytes,
        *,
        state: State,
        enqueued: int,
        due: int | None,
        time_to_live: int | None = None,
    ) -> int:
        """Store a message; an active one expires when it is due. Answers its sequence number."""
        expires = due if state is State.ACTIVE else None
        cursor = self._database.execute(
            "INSERT INTO message (entity, state, delivery_count, enqueued, time_to_live, expires,"
            " due, content) VALUES (?, ?, 0, ?, ?, ?, ?, ?)",
            (entity, state, enqueued, time_to_live, expires, due, content),
        )
        return cast(int, cursor.lastrowid)

    def ready(self, entity: int, now: int, limit: int) -> list[Entry]:
        """Unlocked, unexpired active messages, oldest first."""
        return self._entries(
            "entity = ? AND state = 0 AND lock_token IS NULL AND (expires IS NULL OR expires > ?)"
            " ORDER BY sequence_number LIMIT ?",
            (entity, now, limit),
        )

    def browse(self, entity: int, start: int, limit: int) -> list[Entry]:
        """Messages in any state, from sequence number `start` on."""
        return self._entries(
            "entity = ? AND sequence_number >= ? ORDER BY sequence_number LIMIT ?",
            (entity, start, limit),
        )

    def find(self, entity: int, sequence_number: int) -> Entry | None:
        found = self._entries("sequence_number = ? AND entity = ?", (sequence_number, entity))
        return found[0] if found else None

    def locked(self, entity: int, token: UUID) -> Entry | None:
        found = self._entries("lock_token = ? AND entity = ?", (token.bytes, entity))
        return found[0] if found else None

    def due(self, now: int, limit: int) -> list[Entry]:
        """Messages on which time must act by now, the longest overdue first."""
        return self._entries("due <= ? ORDER BY due LIMIT ?", (now, limit))

    def content(self, sequence_number: int) -> bytes:
        row = self._database.execute(
            "SELECT content FROM message WHERE sequence_number = ?", (sequence_number,)
        ).fetchone()
        return cast(bytes, row[0])

    def lock(self, sequence_number: int, token: UUID, until: int) -> None:
        self._database.execute(
            "UPDATE message SET lock_token = ?, due = ? WHERE sequence_number = ?",
            (token.bytes, until, sequence_number),
        )

    def unlock(self, entry: Entry, state: State, delivery_count: int) -> None:
        """Give a message back in `state`; only active ones expire."""
        self._database.execute(
            "UPDATE message SET lock_token = NULL, state = ?, delivery_count = ?, due = ?"
            " WHERE sequence_number = ?",
            (
                state,
                delivery_count,
                entry.expires if state is State.ACTIVE else None,
                entry.sequence_number,
            ),
        )

    def rewrite(self, sequence_number: int, content: bytes) -> None:
        self._database.execute(
            "UPDATE message SET content = ? WHERE sequence_number = ?", (content, sequence_number)
        )

    def move(self, sequence_number: int, entity: int, delivery_count: int, content: bytes) -> None:
        """Make a message an active one of another entity, unlocked, never to expire."""
        self._database.execute(
            "UPDATE message SET entity = ?, state = 0, delivery_count = ?, expires = NULL,"
            " lock_token = NULL, due = NULL, content = ? WHERE sequence_number = ?",
            (entity, delivery_count, content, sequence_number),
        )

    def delete(self, sequence_number: int) -> None:
        self._database.execute("DELETE FROM message WHERE sequence_number = ?", (sequence_number,))

    def _entries(self, condition: str, values: tuple[object, ...]) -> list[Entry]:
        # The conditions are the literals above; every value is bound.
        rows = self._database.execute(f"SELECT {_ENTRY} FROM message WHERE {condition}", values)  # noqa: S608
        return [Entry(*row) for row in rows]

    # Duplicate detection

    def seen(self, topic: int, message_id: str, now: int) -> bool:
        """Whether this id was sent to the topic and its window has not ended by `now`."""
        row = self._database.execute(
            "SELECT 1 FROM seen WHERE topic = ? AND message_id = ? AND until > ?",
            (topic, message_id, now),
        ).fetchone()
        return row is not None

    def remember(self, topic: int, message_id: str, until: int) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO seen (topic, message_id, until) VALUES (?, ?, ?)",
            (topic, message_id, until),
        )

    def forget(self, now: int) -> None:
        """Drop the ids whose window has ended."""
        self._database.execute("DELETE FROM seen WHERE until <= ?", (now,))

    # Time

    def next_message_due(self) -> int | None:
        """When time must act on a message next."""
        row = self._database.execute("SELECT min(due) FROM message WHERE due IS NOT NULL")
        return cast(int | None, row.fetchone()[0])

    def next_window_end(self) -> int | None:
        """When the first remembered id can be dropped."""
        return cast(int | None, self._database.execute("SELECT min(until) FROM seen").fetchone()[0])
