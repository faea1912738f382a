"""Which failures of the database pass, as tables: those units of work are run again."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shared.services.ports import ConflictError

SQL_SERVER_ERRORS = {
    1205: "deadlock",
    4060: "the database cannot be opened",
    10928: "its resource limit is reached",
    10929: "its resource limit is reached",
    18456: "the log-in was refused",  # of a token that has just expired; each try takes a fresh one
    40197: "the service is being moved",
    40501: "the service is busy",
    40613: "the database is not available",
    49918: "the service is busy",
    49919: "the service is busy",
    49920: "the service is busy",
}
SQL_STATES = {
    "40001": "deadlock",
    "08001": "no connection",
    "08003": "the connection was lost",
    "08007": "the connection was lost",
    "08S01": "the connection was lost",
    "08S02": "the connection was lost",
    "IMC06": "the connection was lost",
    "HYT00": "it did not answer in time",
    "HYT01": "it did not answer in time",
}
SQLITE_ERRORS = {
    sqlite3.SQLITE_BUSY: "the file is locked",
    sqlite3.SQLITE_LOCKED: "the file is locked",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
}
UNIQUE_VIOLATIONS = {
    2601,
    2627,
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
}

# pyodbc writes "[state] text (number) (function)", then "; [state] text (number)" for each more.
# A number in brackets elsewhere belongs to the text, such as the value of a duplicate key.
_NUMBER = re.compile(r"\((\d+)\)(?= \(SQL\w+\)|;|$)")


def passing_reason(error: Exception) -> str | None:
    """Why a failure may pass, in words without SQL or values; None when it will not."""
    if isinstance(error, ConflictError):
        return "others decided first each time"
    if isinstance(error, PoolTimeoutError):
        return "every connection is in use"
    if not isinstance(error, DBAPIError):
        return None
    lost = "the connection was lost" if error.connection_invalidated else None
    numbers = _numbers(error)
    if isinstance(error.orig, sqlite3.Error):
        return SQLITE_ERRORS.get(numbers[0] & 0xFF, lost)  # the higher bits say where
    known = [SQL_SERVER_ERRORS[number] for number in numbers if number in SQL_SERVER_ERRORS]
    return known[0] if known else SQL_STATES.get(_arguments(error)[0], lost)


@contextmanager
def conflicts() -> Iterator[None]:
    """Turn the violation of a unique index or primary key into a ConflictError."""
    try:
        yield
    except IntegrityError as error:
        if UNIQUE_VIOLATIONS.isdisjoint(_numbers(error)):
            raise
        raise ConflictError("A row with this key exists already") from None


def _numbers(error: DBAPIError) -> list[int]:
    """The database's own error numbers: one of SQLite, perhaps several of SQL Server."""
    if isinstance(error.orig, sqlite3.Error):
        return [getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR)]
    return [int(number) for number in _NUMBER.findall(_arguments(error)[-1])]


def _arguments(error: DBAPIError) -> list[str]:
    """What pyodbc raised: the SQLSTATE and the text, seldom less."""
    return [str(argument) for argument in getattr(error.orig, "args", ())] or [""]
