"""An empty SQLite database, and a SQL Server that is a fake, for each test."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.database import SqlDatabase, create_engine
from tests.database import empty_database
from tests.unit.adapters.database.fake_pyodbc import Server, fake_pyodbc
from tests.unit.adapters.database.rows import NOW

SQL_SERVER_URL = "mssql+pyodbc://server.example/extractor"
DRIVERS = ("SQLite3", "ODBC Driver 17 for SQL Server", "ODBC Driver 18 for SQL Server")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqlDatabase]:
    database = empty_database(tmp_path)
    yield database
    database.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setitem(sys.modules, "pyodbc", fake_pyodbc(server, DRIVERS))
    return server


@pytest.fixture
def sql_server(server: Server) -> Iterator[SqlDatabase]:
    """A database on `server`, where it is NOW."""
    engine = create_engine(SQL_SERVER_URL)
    database = SqlDatabase(engine, sleep=lambda _: None, now=lambda: NOW)
    yield database
    database.close()
