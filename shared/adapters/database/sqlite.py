"""The embedded database: a SQLite file that several processes may share."""

import sqlite3
from typing import Any

import sqlalchemy
from sqlalchemy import URL, Connection, Engine, event

from shared.adapters.database.tables import SCHEMAS

BUSY_TIMEOUT = 5
"""Seconds that SQLite itself waits for a lock before the unit of work is repeated."""

_PRAGMAS = ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON")


def sqlite_engine(url: URL) -> Engine:
    """An engine for a SQLite file. Raises ValueError for a database in memory.

    Each connection of a database in memory is a database of its own. Of a file one is enough, as
    only one transaction at a time can have its lock: threads wait for the connection, and each is
    woken when it is free. SQLite itself would let them look again after pauses, some for seconds.
    """
    if url.database in (None, "", ":memory:"):
        raise ValueError("The SQLite database must be a file, as in sqlite:///path/to/file.db")
    engine = sqlalchemy.create_engine(
        url,
        pool_size=1,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT,
        hide_parameters=True,
        connect_args={"timeout": BUSY_TIMEOUT},
        execution_options={"schema_translate_map": dict.fromkeys(SCHEMAS)},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # the driver's own BEGIN comes too late, and is deferred
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """Take the write lock at once: a reader that becomes a writer would fail, not wait."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
