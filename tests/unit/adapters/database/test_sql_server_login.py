"""Logging in to SQL Server: drivers, tokens, and tries that fail."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.database import SqlDatabase, create_engine
from shared.adapters.database.sql_server import CONNECTION_LIFE, DriverMissingError
from shared.domain.errors import TransientError
from tests.unit.adapters.database.conftest import SQL_SERVER_URL as URL
from tests.unit.adapters.database.fake_pyodbc import (
    InterfaceError,
    OperationalError,
    ProgrammingError,
    Server,
    fake_pyodbc,
)


def test_the_drivers_own_pooling_is_off_before_the_first_connection(
    server: Server, sql_server: SqlDatabase
) -> None:
    sql_server.run(lambda transaction: None)

    assert server.pooling_at_login == [False]


def test_the_newest_installed_driver_is_taken(server: Server, sql_server: SqlDatabase) -> None:
    sql_server.run(lambda transaction: None)

    [(connection_string, options)] = server.logins
    assert connection_string.startswith("DRIVER={ODBC Driver 18 for SQL Server};")
    assert options["timeout"] == 15


def test_a_driver_that_the_url_names_is_taken(server: Server) -> None:
    database = SqlDatabase(create_engine(f"{URL}?driver=ODBC+Driver+17+for+SQL+Server"))

    database.run(lambda transaction: None)

    assert "ODBC Driver 17" in server.logins[0][0]


def test_a_machine_without_a_driver_is_told_what_to_install(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", fake_pyodbc(server, ("SQLite3",)))

    with pytest.raises(DriverMissingError, match="Install ODBC Driver 18"):
        create_engine(URL)


def test_a_machine_without_the_driver_manager_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", None)

    with pytest.raises(DriverMissingError, match="unixODBC"):
        create_engine(URL)


def tokens() -> Callable[[], str]:
    numbers = iter(range(1, 10))
    return lambda: f"token-{next(numbers)}"


def given_token(options: dict[str, object]) -> str:
    attributes = options["attrs_before"]
    assert isinstance(attributes, dict)
    packed: bytes = attributes[1256]
    assert int.from_bytes(packed[:4], "little") == len(packed) - 4
    return packed[4:].decode("utf-16-le")


def test_each_physical_connection_gets_a_token_of_its_own(server: Server) -> None:
    engine = create_engine(URL, token_provider=tokens())

    with engine.connect(), engine.connect():
        pass
    with engine.connect():
        pass

    assert [given_token(options) for _, options in server.logins] == ["token-1", "token-2"]
    assert "Trusted_Connection" not in server.logins[0][0]
    engine.dispose()


def test_a_connection_is_replaced_before_its_token_ends(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_engine(URL, pool_size=1, token_provider=tokens())
    with engine.connect():
        pass

    opened = datetime.now(UTC).timestamp()
    monkeypatch.setattr("sqlalchemy.pool.base.time.time", lambda: opened + CONNECTION_LIFE + 1)
    with engine.connect():
        pass

    assert [given_token(options) for _, options in server.logins] == ["token-1", "token-2"]
    assert timedelta(seconds=CONNECTION_LIFE) < timedelta(hours=1)
    engine.dispose()


def test_a_user_in_the_url_logs_in_without_a_token(server: Server) -> None:
    engine = create_engine("mssql+pyodbc://sa:pass@server.example/x", token_provider=tokens())

    with engine.connect():
        pass

    assert "UID=sa" in server.logins[0][0]
    assert "attrs_before" not in server.logins[0][1]
    engine.dispose()


def test_log_ins_that_fail_for_a_while_are_repeated_with_fresh_tokens(server: Server) -> None:
    paused = "[HY000] Database is not currently available. (40613) (SQLDriverConnect)"
    expired = "[28000] Login failed for user '<token-identified principal>'. (18456)"
    server.login_failures = [
        ProgrammingError("HY000", paused),
        OperationalError("HYT00", "[HYT00] Login timeout expired (0) (SQLDriverConnect)"),
        InterfaceError("28000", expired),
    ]
    pauses: list[float] = []
    database = SqlDatabase(create_engine(URL, token_provider=tokens()), sleep=pauses.append)

    assert database.run(lambda transaction: "done") == "done"

    assert [given_token(options) for _, options in server.logins] == [
        "token-1",
        "token-2",
        "token-3",
        "token-4",
    ]
    assert len(pauses) == 3
    database.close()


def test_tokens_out_of_reach_are_a_failure_of_their_own(server: Server) -> None:
    def no_token() -> str:
        raise TransientError("identity", "no answer")

    database = SqlDatabase(create_engine(URL, token_provider=no_token))

    with pytest.raises(TransientError, match="identity: no answer"):
        database.run(lambda transaction: None)

    assert server.logins == []
