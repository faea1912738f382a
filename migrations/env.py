"""Alembic's entry: migrates a database, or prints the T-SQL script when asked with --sql."""

import logging
import os

from alembic import context
from sqlalchemy import text

from shared.adapters.database import create_engine
from shared.adapters.database.sql_server import TOKEN_SCOPE
from shared.adapters.database.tables import EXTRACTOR, metadata

CREATE_SCHEMA = f"IF SCHEMA_ID(N'{EXTRACTOR}') IS NULL EXEC(N'CREATE SCHEMA [{EXTRACTOR}]')"
# Filtered indexes need it, and sqlcmd turns it off.
QUOTED_IDENTIFIER = "SET QUOTED_IDENTIFIER ON"


def migrate() -> None:
    """Migrate in one transaction; two that start at once wait for each other."""
    engine = create_engine(_url(), pool_size=1, token_provider=_identity_token)
    try:
        with engine.begin() as connection:
            on_sql_server = connection.dialect.name == "mssql"
            if on_sql_server:
                connection.execute(text(CREATE_SCHEMA))
            context.configure(
                connection=connection,
                target_metadata=metadata,
                transactional_ddl=True,
                version_table_schema=EXTRACTOR if on_sql_server else None,
            )
            context.run_migrations()
    finally:
        engine.dispose()


def print_script() -> None:
    """Print the T-SQL of the revisions asked for."""
    context.configure(dialect_name="mssql", literal_binds=True, version_table_schema=EXTRACTOR)
    context.execute(QUOTED_IDENTIFIER)
    context.execute(CREATE_SCHEMA)
    with context.begin_transaction():
        context.run_migrations()


def _url() -> str:
    given = context.get_x_argument(as_dictionary=True).get("url")
    url = given or context.config.attributes.get("url") or os.environ.get("DATABASE_URL")
    if not url:
        raise SystemExit("Set DATABASE_URL, or give the database as -x url=...")
    return str(url)


def _identity_token() -> str:
    from azure.identity import DefaultAzureCredential

    return DefaultAzureCredential().get_token(TOKEN_SCOPE).token


if context.config.cmd_opts:
    logging.basicConfig(format="%(message)s", level=logging.INFO)
if context.is_offline_mode():
    print_script()
else:
    migrate()
