"""SQL Server and Azure SQL through pyodbc, which is imported when the first engine is made."""

import importlib
import re
import struct
from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy import URL, Engine, event

TokenProvider = Callable[[], str]
"""Gives an access token for `TOKEN_SCOPE`; called for each physical connection.

Raises TransientError when tokens are out of reach; it leaves a unit of work unchanged.
"""

TOKEN_SCOPE = "https://database.windows.net/.default"  # noqa: S105 - an address, no secret
LOGIN_TIMEOUT = 15
POOL_TIMEOUT = 10
CONNECTION_LIFE = 30 * 60
"""Seconds. Tokens live for an hour or more; a connection is replaced well before."""

_ACCESS_TOKEN = 1256  # SQL_COPT_SS_ACCESS_TOKEN of msodbcsql.h
_DRIVER_NAME = re.compile(r"ODBC Driver (\d+) for SQL Server")


class DriverMissingError(Exception):
    """This machine has no ODBC driver for SQL Server."""


def sql_server_engine(url: URL, pool_size: int, token_provider: TokenProvider | None) -> Engine:
    """An engine for SQL Server. Raises DriverMissingError when no driver is installed."""
    pyodbc = _load_pyodbc()
    pyodbc.pooling = False  # two pools would keep connections beyond the life of their tokens
    engine = sqlalchemy.create_engine(
        _with_driver(url, pyodbc),
        module=pyodbc,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT,
        pool_pre_ping=True,
        pool_recycle=CONNECTION_LIFE,
        hide_parameters=True,
        connect_args={"timeout": LOGIN_TIMEOUT},
    )
    if token_provider and not url.username and "odbc_connect" not in url.query:
        _log_in_with_tokens(engine, token_provider)
    return engine


def _load_pyodbc() -> Any:
    try:
        return importlib.import_module("pyodbc")
    except ImportError as error:
        raise DriverMissingError(
            f"pyodbc cannot be loaded ({error}); install unixODBC and ODBC Driver 18 for SQL Server"
        ) from error


def _with_driver(url: URL, pyodbc: Any) -> URL:
    """The URL with the newest driver that is installed, unless it names one itself."""
    if "driver" in url.query or "odbc_connect" in url.query:
        return url
    versions = [int(match[1]) for name in pyodbc.drivers() if (match := _DRIVER_NAME.match(name))]
    if not versions:
        raise DriverMissingError("Install ODBC Driver 18 for SQL Server; no version was found")
    return url.update_query_dict({"driver": f"ODBC Driver {max(versions)} for SQL Server"})


def _log_in_with_tokens(engine: Engine, token_provider: TokenProvider) -> None:
    def add_token(_dialect: Any, _record: Any, args: list[str], options: dict[str, Any]) -> None:
        args[0] = args[0].replace(";Trusted_Connection=Yes", "")  # excludes a token
        token = token_provider().encode("utf-16-le")
        packed = struct.pack(f"<I{len(token)}s", len(token), token)
        options["attrs_before"] = {_ACCESS_TOKEN: packed}

    event.listen(engine, "do_connect", add_token)
