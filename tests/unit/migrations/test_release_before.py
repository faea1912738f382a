"""On the newest schema the release before goes on: it inserts, changes, reads and deletes."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    Table,
    delete,
    insert,
    select,
    update,
)

from migrations.local_tables import create_read_only_tables
from shared.adapters.database import create_engine
from tests.unit.migrations.steps import CONTRACTS

ROOT = Path(__file__).parents[3]
CONFIG = Config(ROOT / "alembic.ini")
SCRIPTS = list(ScriptDirectory.from_config(CONFIG).walk_revisions())[::-1]
CONTRACTIONS = [i for i, each in enumerate(SCRIPTS) if hasattr(each.module, CONTRACTS)]
REVISIONS = [each.revision for each in SCRIPTS[max(CONTRACTIONS, default=0) :]]
"""Since the last contraction: what it took away, no release from then on uses."""
NOW = datetime(2026, 3, 1, tzinfo=UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
TEXTS = {
    "Status": "Queued",
    "Outcome": "pending",
    "Detail": "{}",
    "Properties": "{}",
    "Metadata": "{}",
}
"""Columns that take certain values only."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A database with the tables of the other services, before any migration."""
    engine = create_engine(f"sqlite:///{tmp_path / 'extractor.db'}")
    create_read_only_tables(engine)
    yield engine
    engine.dispose()


def migrate(engine: Engine, revision: str) -> None:
    command.upgrade(Config(ROOT / "alembic.ini", attributes={"url": str(engine.url)}), revision)


def tables_of(engine: Engine) -> list[Table]:
    """The tables as they stand, those that others point to first."""
    known = MetaData()
    known.reflect(engine)
    return [table for table in known.sorted_tables if table.name != "alembic_version"]


def write_row(connection: Connection, tables: list[Table]) -> dict[str, dict[str, Any]]:
    """A row in every table, with a value in each column that these tables know."""
    rows: dict[str, dict[str, Any]] = {}
    for table in tables:
        rows[table.name] = {each.name: value_of(each, rows) for each in table.columns}
        connection.execute(insert(table).values(rows[table.name]))
    return rows


def value_of(column: Column[Any], rows: dict[str, dict[str, Any]]) -> Any:
    for key in column.foreign_keys:
        return rows[key.column.table.name][key.column.name]
    if isinstance(column.type, Integer) or column.type.python_type in {int, bool}:
        return 1
    if column.name.endswith("ID") and column.type.length == 36:  # type: ignore[attr-defined]
        return str(uuid4())
    return TEXTS.get(column.name, NOW)


def same_row(table: Table, row: dict[str, Any]) -> Any:
    condition = [table.c[each.name] == row[each.name] for each in table.primary_key]
    return condition[0] if len(condition) == 1 else condition[0] & condition[1]


@pytest.mark.parametrize("before", REVISIONS[:-1])
def test_what_an_older_release_writes_is_taken_by_the_newest_schema(
    engine: Engine, before: str
) -> None:
    migrate(engine, before)
    tables = tables_of(engine)

    migrate(engine, "head")

    with engine.begin() as connection:
        rows = write_row(connection, tables)
        for table in tables:
            [found] = connection.execute(select(table)).mappings()
            assert dict(found) == rows[table.name]


@pytest.mark.parametrize("before", REVISIONS[:-1])
def test_what_an_older_release_has_written_it_changes_and_deletes_afterwards(
    engine: Engine, before: str
) -> None:
    migrate(engine, before)
    tables = tables_of(engine)
    with engine.begin() as connection:
        rows = write_row(connection, tables)

    migrate(engine, "head")

    with engine.begin() as connection:
        for table in reversed(tables):
            row = same_row(table, rows[table.name])
            assert (
                connection.execute(update(table).where(row).values(rows[table.name])).rowcount == 1
            )
            assert connection.execute(delete(table).where(row)).rowcount == 1


def test_the_newest_schema_is_among_them() -> None:
    assert REVISIONS[-1] == ScriptDirectory.from_config(CONFIG).get_current_head()
