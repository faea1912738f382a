"""The store's file: versions, foreign files, and transactions."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from local.durable.database import Database, ForeignStore


def test_a_new_file_gets_tables_and_a_version(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "hub.db"
    with closing(Database(path)) as database:
        assert database.value("PRAGMA user_version") == 1
        assert database.value("SELECT count(*) FROM instances") == 0
    with closing(Database(path)) as again:
        assert again.value("PRAGMA user_version") == 1


def test_a_file_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 7")
    with pytest.raises(ForeignStore, match=r"hub\.db holds version 7 .* reads version 1"):
        Database(path)


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (id)")
    with pytest.raises(ForeignStore, match=r"hub\.db"):
        Database(path)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_schema").fetchall() == [("theirs",)]


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    path.write_text("something else, and longer than the head of a database file " * 4)
    with pytest.raises(ForeignStore, match=r"hub\.db is not a durable store"):
        Database(path)


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    def fail(database: Database) -> None:
        with database.transaction():
            database.execute("INSERT INTO inbox VALUES (1, 'it', NULL, '{}')")
            raise RuntimeError("in the middle")

    with closing(Database(tmp_path / "hub.db")) as database:
        with pytest.raises(RuntimeError, match="in the middle"):
            fail(database)
        assert database.value("SELECT count(*) FROM inbox") == 0
