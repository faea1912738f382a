"""The SQLite file that everything durable is kept in."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE instances (
    instance_id TEXT NOT NULL PRIMARY KEY,
    execution_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    finished INTEGER NOT NULL DEFAULT 0,
    input TEXT,
    output TEXT,
    custom_status TEXT,
    parent_id TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    lease TEXT
);
CREATE INDEX instances_by_status ON instances (status, instance_id);
CREATE INDEX instances_by_creation ON instances (created_at);
CREATE INDEX instances_leased ON instances (lease) WHERE lease IS NOT NULL;

CREATE TABLE history (
    instance_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (instance_id, sequence)
) WITHOUT ROWID;

CREATE TABLE inbox (
    id INTEGER PRIMARY KEY,
    instance_id TEXT NOT NULL,
    execution_id TEXT,
    event TEXT NOT NULL
);
CREATE INDEX inbox_by_instance ON inbox (instance_id, id);

CREATE TABLE timers (
    id INTEGER PRIMARY KEY,
    instance_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    timer_id INTEGER NOT NULL,
    due_at REAL NOT NULL,
    event TEXT NOT NULL
);
CREATE INDEX timers_by_time ON timers (due_at);
CREATE INDEX timers_by_instance ON timers (instance_id, timer_id);

CREATE TABLE activities (
    id INTEGER PRIMARY KEY,
    instance_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    task_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    input TEXT NOT NULL,
    visible_at REAL NOT NULL,
    lease TEXT
);
CREATE INDEX activities_by_time ON activities (visible_at, id);
CREATE INDEX activities_leased ON activities (lease) WHERE lease IS NOT NULL;
"""


class ForeignStore(Exception):
    """The file was written by another version of the engine, or by another program."""


class Database:
    """One connection, for the thread that made it. Each transaction is a few rows long."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Raises ForeignStore when it is not one of ours."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare(path)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, path: Path) -> None:
        try:
            version = self.value("PRAGMA user_version")
            tables = self.value("SELECT count(*) FROM sqlite_schema")
        except sqlite3.DatabaseError as error:
            raise ForeignStore(f"{path} is not a durable store: {error}") from error
        if version != SCHEMA_VERSION and (version or tables):
            raise ForeignStore(
                f"{path} holds version {version} of the durable store, and this host reads version "
                f"{SCHEMA_VERSION}: delete the file, or start the host that wrote it."
            )
        # A killed process loses nothing with synchronous=NORMAL; only a power cut may.
        self._connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
        if not version:
            with self.transaction():
                for statement in SCHEMA.split(";"):
                    self.execute(statement)
                self.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def execute(self, sql: str, *values: Any) -> int:
        """Run one statement; answers the number of rows that it changed."""
        return self._connection.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: list[tuple[Any, ...]]) -> None:
        """Run one statement for each row of values."""
        self._connection.executemany(sql, rows)

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Everything that a query finds; one mapping instead of values binds them by name."""
        named = values[0] if len(values) == 1 and isinstance(values[0], dict) else values
        return self._connection.execute(sql, named).fetchall()

    def row(self, sql: str, *values: Any) -> sqlite3.Row | None:
        """The first row that a query finds."""
        found: sqlite3.Row | None = self._connection.execute(sql, values).fetchone()
        return found

    def value(self, sql: str, *values: Any) -> Any:
        """The first value of the first row, or None."""
        found = self.row(sql, *values)
        return found[0] if found else None
