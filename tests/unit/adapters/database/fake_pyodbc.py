"""A module that behaves like pyodbc as far as SQLAlchemy uses it, on a server that remembers."""

import re
import struct
from dataclasses import dataclass, field
from datetime import datetime
from types import ModuleType
from typing import Any

SQL_CHAR, SQL_VARCHAR, SQL_WVARCHAR = 1, 12, -9
SQL_SS_TIMESTAMPOFFSET = -155


class Error(Exception): ...


class DatabaseError(Error): ...


class OperationalError(DatabaseError): ...


class ProgrammingError(DatabaseError): ...


class IntegrityError(DatabaseError): ...


class InterfaceError(Error): ...


@dataclass(frozen=True)
class DateTimeOffset:
    """A DATETIMEOFFSET on its way to the client, which needs an output converter."""

    moment: datetime

    def packed(self) -> bytes:
        moment = self.moment
        offset = moment.utcoffset()
        assert offset is not None
        minutes = int(offset.total_seconds()) // 60
        return struct.pack(
            "<6hI2h",
            *moment.timetuple()[:6],
            moment.microsecond * 1000,
            int(minutes / 60),
            minutes - int(minutes / 60) * 60,
        )


@dataclass(frozen=True)
class Executed:
    """One statement as the driver got it. `sizes` are the SQL types of its parameters."""

    sql: str
    parameters: tuple[Any, ...]
    sizes: tuple[int | None, ...]

    def typed(self) -> dict[Any, int | None]:
        """The SQL type under which each value was bound; None where the driver chooses."""
        return dict(zip(self.parameters, self.sizes, strict=True))


@dataclass
class Server:
    """What a SQL Server saw, and what it answers: rows by a part of the statement."""

    executed: list[Executed] = field(default_factory=list)
    logins: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    pooling_at_login: list[bool] = field(default_factory=list)
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    login_failures: list[Exception] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows |= {
            "ProductVersion": [("16.0.1000.6",)],
            "schema_name()": [("dbo",)],
            "test max support": [("x",)],
        }

    def answer(self, sql: str) -> list[tuple[Any, ...]]:
        return next((list(rows) for part, rows in self.rows.items() if part in sql), [])


class Cursor:
    arraysize = 1
    rowcount = -1

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._sizes: list[int | None] = []
        self._rows: list[tuple[Any, ...]] = []
        self.description: Any = None

    def setinputsizes(self, sizes: list[tuple[Any, Any, Any]]) -> None:
        """Like pyodbc, take numbers for SQL types and pass over anything else."""
        self._sizes = [size[0] if isinstance(size[0], int) else None for size in sizes]

    def execute(self, sql: str, parameters: tuple[Any, ...] = ()) -> None:
        server = self._connection.server
        sizes = self._sizes or [None] * len(parameters)
        server.executed.append(Executed(sql, tuple(parameters), tuple(sizes)))
        if server.failures and "extractor." in sql:
            raise server.failures.pop(0)
        self._rows = server.answer(sql)
        columns = _columns(sql)
        self.description = [(name, *(None,) * 6) for name in columns] if columns else None

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._converted(self._rows.pop(0)) if self._rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        rows, self._rows = self._rows, []
        return [self._converted(row) for row in rows]

    def nextset(self) -> bool:
        return False

    def close(self) -> None: ...

    def _converted(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            self._connection.converters[SQL_SS_TIMESTAMPOFFSET](value.packed())
            if isinstance(value, DateTimeOffset)
            else value
            for value in row
        )


def _columns(sql: str) -> list[str]:
    """The names of the columns that a statement answers with."""
    match = re.search(r"\bOUTPUT (.*?) (?:VALUES|WHERE)\b|^SELECT (.*?)(?: \nFROM |$)", sql, re.S)
    if match is None:
        return []
    selected = re.split(r",(?![^(]*\))", match[1] or match[2])
    return [column.split()[-1].strip("[]").split("[")[-1] for column in selected]


class Connection:
    autocommit = False

    def __init__(self, server: Server) -> None:
        self.server = server
        self.converters: dict[int, Any] = {}

    def add_output_converter(self, sql_type: int, converter: Any) -> None:
        self.converters[sql_type] = converter

    def cursor(self) -> Cursor:
        return Cursor(self)

    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


def fake_pyodbc(server: Server, drivers: tuple[str, ...]) -> ModuleType:
    """The module, whose every connection reaches `server`."""
    module = ModuleType("pyodbc")

    def connect(connection_string: str, **options: Any) -> Connection:
        server.logins.append((connection_string, options))
        server.pooling_at_login.append(vars(module)["pooling"])
        if server.login_failures:
            raise server.login_failures.pop(0)
        return Connection(server)

    vars(module).update(
        version="5.5.0",
        paramstyle="qmark",
        pooling=True,
        drivers=lambda: list(drivers),
        connect=connect,
        Cursor=Cursor,
        Connection=Connection,
        Binary=bytes,
        STRING=str,
        NUMBER=float,
        DATETIME=datetime,
        ROWID=int,
        SQL_CHAR=SQL_CHAR,
        SQL_VARCHAR=SQL_VARCHAR,
        SQL_WVARCHAR=SQL_WVARCHAR,
        Error=Error,
        DatabaseError=DatabaseError,
        OperationalError=OperationalError,
        ProgrammingError=ProgrammingError,
        IntegrityError=IntegrityError,
        InterfaceError=InterfaceError,
    )
    return module
