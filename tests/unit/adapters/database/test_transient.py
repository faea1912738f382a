"""Which failures pass: the errors as the drivers report them."""

import sqlite3

import pytest
from sqlalchemy.exc import (
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shared.adapters.database.transient import conflicts, passing_reason
from shared.services.ports import ConflictError

DRIVER = "[Microsoft][ODBC Driver 18 for SQL Server]"


def sql_server(state: str, text: str, kind: type[DBAPIError] = ProgrammingError) -> DBAPIError:
    """An error as pyodbc raises it and SQLAlchemy wraps it."""
    return kind("SELECT secret", {}, Exception(state, f"[{state}] {DRIVER}{text}"))


def sqlite_error(code: int, kind: type[DBAPIError] = OperationalError) -> DBAPIError:
    original = sqlite3.OperationalError("failed")
    original.sqlite_errorcode = code
    return kind("SELECT secret", {}, original)


PASSING = {
    "deadlock": sql_server(
        "40001",
        "[SQL Server]Transaction (Process ID 52) was deadlocked on lock resources"
        " with another process. (1205) (SQLExecDirectW)",
    ),
    "database cannot be opened": sql_server(
        "42000",
        "[SQL Server]Cannot open database 'x' requested by the login. (4060) (SQLDriverConnect);"
        f" [42000] {DRIVER}[SQL Server]Login failed for user 'y'. (18456)",
    ),
    "service error while moving": sql_server("HY000", "[SQL Server]Error. (40197) (SQLExecute)"),
    "service busy": sql_server("HY000", "[SQL Server]Busy. (40501) (SQLDriverConnect)"),
    "paused database": sql_server(
        "HY000", "[SQL Server]Not currently available. (40613) (SQLDriverConnect)"
    ),
    "too many requests": sql_server("HY000", "[SQL Server]Limit. (10928) (SQLExecDirectW)"),
    "minimum guarantee": sql_server("HY000", "[SQL Server]Limit. (10929) (SQLExecDirectW)"),
    "not enough resources": sql_server("HY000", "[SQL Server]No. (49918) (SQLDriverConnect)"),
    "too many creations": sql_server("HY000", "[SQL Server]No. (49919) (SQLDriverConnect)"),
    "too many operations": sql_server("HY000", "[SQL Server]No. (49920) (SQLDriverConnect)"),
    "expired token": sql_server(
        "28000",
        "[SQL Server]Login failed for user '<token-identified principal>'. (18456)"
        " (SQLDriverConnect)",
        InterfaceError,
    ),
    "log-in time-out": sql_server(
        "HYT00", "Login timeout expired (0) (SQLDriverConnect)", OperationalError
    ),
    "connection dropped": sql_server("08S01", "TCP Provider: reset (10054) (SQLExecDirectW)"),
    "server out of reach": sql_server("08001", "TCP Provider: refused (10061) (SQLDriverConnect)"),
    "sqlite busy": sqlite_error(sqlite3.SQLITE_BUSY),
    "sqlite busy, in detail": sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT),
    "sqlite locked": sqlite_error(sqlite3.SQLITE_LOCKED),
    "sqlite cannot open": sqlite_error(sqlite3.SQLITE_CANTOPEN),
    "sqlite disk failure": sqlite_error(sqlite3.SQLITE_IOERR_READ),
    "sqlite disk full": sqlite_error(sqlite3.SQLITE_FULL),
    "pool used up": PoolTimeoutError("QueuePool limit of size 1 overflow 0 reached"),
    "conflict": ConflictError("a row exists"),
}

LASTING = {
    "unique index": sql_server("23000", "[SQL Server]Duplicate. (2627) (SQLExecDirectW)"),
    "conversion": sql_server("22018", "[SQL Server]Conversion failed. (245) (SQLExecDirectW)"),
    "unknown table": sql_server("42S02", "[SQL Server]Invalid object name. (208) (SQLExecDirectW)"),
    "a number of the table within the text": sql_server(
        "23000", "[SQL Server]The duplicate key value is (1205). (2627) (SQLExecDirectW)"
    ),
    "sqlite unknown table": sqlite_error(sqlite3.SQLITE_ERROR),
    "sqlite check constraint": sqlite_error(sqlite3.SQLITE_CONSTRAINT_CHECK),
    "without arguments": ProgrammingError("SELECT secret", {}, Exception()),
    "no database error": ValueError("(1205)"),
}


@pytest.mark.parametrize("error", PASSING.values(), ids=PASSING)
def test_a_failure_that_may_pass_has_a_reason_without_sql(error: Exception) -> None:
    reason = passing_reason(error)

    assert reason
    assert "secret" not in reason


@pytest.mark.parametrize("error", LASTING.values(), ids=LASTING)
def test_any_other_failure_has_none(error: Exception) -> None:
    assert passing_reason(error) is None


def test_a_connection_that_the_driver_gave_up_passes() -> None:
    error = DBAPIError("SELECT 1", {}, Exception("HY010", "lost"), connection_invalidated=True)

    assert passing_reason(error) == "the connection was lost"


@pytest.mark.parametrize(
    "error",
    [
        sql_server("23000", "[SQL Server]Unique index. (2601) (SQLExecDirectW)", IntegrityError),
        sql_server("23000", "[SQL Server]Primary key. (2627) (SQLExecDirectW)", IntegrityError),
        sqlite_error(sqlite3.SQLITE_CONSTRAINT_UNIQUE, IntegrityError),
        sqlite_error(sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, IntegrityError),
    ],
)
def test_a_unique_violation_is_a_conflict(error: Exception) -> None:
    with pytest.raises(ConflictError), conflicts():
        raise error


@pytest.mark.parametrize(
    "error",
    [
        sql_server("23000", "[SQL Server]Foreign key. (547) (SQLExecDirectW)", IntegrityError),
        sqlite_error(sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, IntegrityError),
    ],
)
def test_another_broken_constraint_is_not(error: IntegrityError) -> None:
    with pytest.raises(IntegrityError), conflicts():
        raise error
