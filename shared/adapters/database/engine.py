"""Opening a database by its URL: SQLite or SQL Server."""

from sqlalchemy import Engine, make_url

from shared.adapters.database.sql_server import TokenProvider, sql_server_engine
from shared.adapters.database.sqlite import sqlite_engine


def create_engine(
    url: str, pool_size: int = 10, token_provider: TokenProvider | None = None
) -> Engine:
    """An engine that opens nothing before its first use.

    `sqlite:///<file>` is the embedded database. `mssql+pyodbc://<server>/<database>` is SQL
    Server, with a pool of `pool_size` connections; without a user in the URL it is logged in to
    with tokens of `token_provider`.
    Raises ValueError for another database, DriverMissingError without an ODBC driver.
    """
    parsed = make_url(url)
    match parsed.get_backend_name():
        case "sqlite":
            return sqlite_engine(parsed)
        case "mssql":
            return sql_server_engine(parsed, pool_size, token_provider)
        case other:
            raise ValueError(f"The database must be SQLite or SQL Server, not {other}")
