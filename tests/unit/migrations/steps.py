"""What each migration does to the schema, and whether the release before can live with it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.operations import Operations
from alembic.operations.ops import (
    AddColumnOp,
    AlterColumnOp,
    CreateForeignKeyOp,
    CreateIndexOp,
    CreateTableOp,
    CreateUniqueConstraintOp,
    MigrateOperation,
)
from alembic.script import ScriptDirectory

ROOT = Path(__file__).parents[3]
CONTRACTS = "CONTRACTS"
"""The constant of a revision that takes something away: which release stopped using it."""


@dataclass(frozen=True)
class Revision:
    """One migration: its id, the one before it, why it may take away, and what it does."""

    id: str
    before: str | None
    contracts: str | None
    steps: Sequence[MigrateOperation]

    def breaks(self) -> list[str]:
        """What the release before could not live with."""
        made = {step.table_name for step in self.steps if isinstance(step, CreateTableOp)}
        return [fault for step in self.steps if (fault := fault_of(step, made))]


def revisions(monkeypatch: Any) -> list[Revision]:
    """All of them, oldest first, with the steps that Alembic takes for SQL Server."""
    config = Config(ROOT / "alembic.ini", output_buffer=io.StringIO())
    steps: list[MigrateOperation] = []
    invoke = Operations.invoke

    def note(operations: Operations, step: MigrateOperation) -> Any:
        steps.append(step)
        return invoke(operations, step)

    monkeypatch.setattr(Operations, "invoke", note)
    found = []
    for script in reversed(list(ScriptDirectory.from_config(config).walk_revisions())):
        steps.clear()
        before = script.down_revision
        command.upgrade(config, f"{before or 'base'}:{script.revision}", sql=True)
        contracts = getattr(script.module, CONTRACTS, None)
        found.append(Revision(script.revision, before, contracts, list(steps)))  # type: ignore[arg-type]
    return found


def fault_of(step: MigrateOperation, made: set[str]) -> str | None:
    """Why the release before would fail after this step; `made` are tables of the same migration.

    What is made anew nobody else knows. What is added to a table that others write must leave
    their statements as good as they were; all else needs a word in CONTRACTS.
    """
    table = getattr(step, "table_name", None) or getattr(step, "source_table", None)
    if isinstance(step, CreateTableOp) or table in made:
        return None
    match step:
        case AddColumnOp():
            column = step.column
            if column.nullable or column.server_default is not None:
                return None
            return f"{table}.{column.name} is required: older code inserts without it"
        case CreateIndexOp():
            return f"{table}: a unique index refuses rows of older code" if step.unique else None
        case AlterColumnOp():
            return _fault_of_change(step)
        case CreateUniqueConstraintOp() | CreateForeignKeyOp():
            return f"{table}: a constraint refuses rows of older code"
        case _:
            return f"{type(step).__name__} on {table}: older code may need what it changes"


def _fault_of_change(step: AlterColumnOp) -> str | None:
    """A column may be widened to take nulls; all else changes what others read or write."""
    widened = step.modify_nullable is True and not step.modify_name and step.modify_type is None
    return None if widened else f"{step.table_name}.{step.column_name} is changed under older code"
