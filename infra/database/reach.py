"""Whether this machine sees the database, and what stands in it already."""

import re
import socket

from alembic.migration import MigrationContext
from azure.core.exceptions import AzureError
from sqlalchemy import URL, Engine, Inspector, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from shared.adapters.database.tables import EXTRACTOR, metadata

PORT = 1433
CONNECT_SECONDS = 10
_STOPPED = re.compile(r"Client with IP address '([0-9.]+)' is not allowed")


class StoppedByFirewallError(Exception):
    """Azure SQL answers, and does not let this machine in. `address` is what it saw of us."""

    def __init__(self, address: str) -> None:
        super().__init__(f"the firewall of the SQL server does not let {address} in")
        self.address = address


class UnreachableError(Exception):
    """Nothing can be done in the database from here. The text says why, and what to do."""


def look(engine: Engine) -> None:
    """Log in once. Raises StoppedByFirewallError, UnreachableError."""
    if engine.dialect.name == "mssql":
        _see(engine.url)
    try:
        with engine.connect() as connection:
            connection.execute(select(1))
    except AzureError as error:
        raise UnreachableError(
            f"no token for the database ({type(error).__name__}): az login, or run where the"
            " migration identity is attached, with AZURE_CLIENT_ID set to its client id"
        ) from None
    except SQLAlchemyError as error:
        stopped = _STOPPED.search(str(error))
        if stopped:
            raise StoppedByFirewallError(stopped[1]) from None
        raise UnreachableError(f"the database refuses: {_reason(error)}") from None


def missing_tables(engine: Engine) -> list[str]:
    """The tables of other services that the schema points to or reads, and that are not there."""
    inspector = inspect(engine)
    others = [table for table in metadata.sorted_tables if table.schema != EXTRACTOR]
    return [
        table.fullname
        for table in others
        if table.name not in _tables(inspector, engine, table.schema)
    ]


def revision(engine: Engine) -> str:
    """The revision of [extractor], or `none`."""
    on_sql_server = engine.dialect.name == "mssql"
    options = {"version_table_schema": EXTRACTOR if on_sql_server else None}
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        return context.get_current_revision() or "none"


def _tables(inspector: Inspector, engine: Engine, schema: str | None) -> list[str]:
    return inspector.get_table_names(schema if engine.dialect.name == "mssql" else None)


def _see(url: URL) -> None:
    host = url.host or ""
    try:
        socket.create_connection((host, url.port or PORT), CONNECT_SECONDS).close()
    except OSError as error:
        raise UnreachableError(
            f"{host} cannot be reached from this machine ({error}). Behind a private endpoint only"
            " machines in its network see it: run infra/migrate.sh there"
        ) from None


def _reason(error: SQLAlchemyError) -> str:
    """The driver's words, without the statement and its parameters."""
    return str(getattr(error, "orig", None) or type(error).__name__).splitlines()[0]
