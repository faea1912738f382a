"""The database of a data folder."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from local.supervisor.data import DataFolderError
from local.supervisor.database import create_database


def test_creating_makes_the_services_tables_and_those_it_only_reads(tmp_path: Path) -> None:
    path = tmp_path / "extractor.sqlite3"

    create_database(f"sqlite:///{path}")
    create_database(f"sqlite:///{path}")

    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = {name for (name,) in rows}
    assert {"Job", "Outbox", "File", "ClientApplicationExtractor"} <= names


def test_a_database_of_a_newer_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "extractor.sqlite3"
    create_database(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(DataFolderError, match=r"does not fit this version .*9999.*make reset"):
        create_database(f"sqlite:///{path}")
