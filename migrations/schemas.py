"""Names with their schemas on SQL Server, and without on SQLite, which has none."""

import sqlalchemy as sa
from alembic import op


def schema(name: str) -> str | None:
    """The schema as an operation takes it."""
    return name if op.get_context().dialect.name == "mssql" else None


def column(schema_name: str, table: str, name: str) -> str:
    """A column as a foreign key names it."""
    return ".".join(part for part in (schema(schema_name), table, name) if part)


def create_index(
    name: str, table: str, columns: list[str], unique: bool = False, where: str | None = None
) -> None:
    """Create an index of a table in [extractor], of the rows that meet `where`."""
    condition = sa.text(where) if where else None
    op.create_index(
        name,
        table,
        columns,
        unique=unique,
        schema=schema("extractor"),
        mssql_where=condition,
        sqlite_where=condition,
    )
