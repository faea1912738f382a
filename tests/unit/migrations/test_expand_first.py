"""Migrations only add, so that the release before goes on while and after one runs."""

import pytest
import sqlalchemy as sa
from alembic.operations.ops import (
    AddColumnOp,
    AlterColumnOp,
    CreateCheckConstraintOp,
    CreateIndexOp,
    CreateTableOp,
    CreateUniqueConstraintOp,
    DropColumnOp,
    DropConstraintOp,
    DropIndexOp,
    DropTableOp,
    ExecuteSQLOp,
    MigrateOperation,
    RenameTableOp,
)

from tests.unit.migrations.steps import Revision, fault_of, revisions


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Revision]:
    return revisions(monkeypatch)


def test_every_migration_only_adds_or_says_which_release_stopped_using_what_it_takes(
    found: list[Revision],
) -> None:
    faults = {each.id: each.breaks() for each in found if not each.contracts}

    assert {id: fault for id, fault in faults.items() if fault} == {}


def test_what_is_called_a_contraction_takes_something_away(found: list[Revision]) -> None:
    assert [each.id for each in found if each.contracts and not each.breaks()] == []


def test_the_steps_of_the_migrations_are_seen(found: list[Revision]) -> None:
    assert [each.id for each in found][:3] == ["0001", "0002", "0003"]
    assert all(each.steps for each in found)
    assert any(isinstance(step, AddColumnOp) for each in found for step in each.steps)


TEXT = sa.String(10)
WITH_DEFAULT = sa.Column("C", TEXT, nullable=False, server_default="x")


@pytest.mark.parametrize(
    "step",
    [
        CreateTableOp("New", [sa.Column("A", TEXT, nullable=False)]),
        AddColumnOp("Job", sa.Column("Note", TEXT)),
        AddColumnOp("Job", WITH_DEFAULT),
        AddColumnOp("New", sa.Column("Note", TEXT, nullable=False)),
        CreateIndexOp("IX", "Job", ["Note"]),
        CreateIndexOp("UX", "New", ["Note"], unique=True),
        AlterColumnOp("Job", "Note", modify_nullable=True),
    ],
    ids=lambda step: type(step).__name__,
)
def test_what_only_adds_is_allowed(step: MigrateOperation) -> None:
    assert fault_of(step, made={"New"}) is None


@pytest.mark.parametrize(
    "step",
    [
        DropTableOp("Job"),
        RenameTableOp("Job", "Task"),
        DropColumnOp("Job", "Status"),
        DropIndexOp("IX_Status", "Job"),
        DropConstraintOp("PK_Job", "Job"),
        AddColumnOp("Job", sa.Column("Note", TEXT, nullable=False)),
        AlterColumnOp("Job", "Status", modify_nullable=False),
        AlterColumnOp("Job", "Status", modify_name="State"),
        AlterColumnOp("Job", "Status", modify_type=sa.Integer()),
        CreateIndexOp("UX", "Job", ["FileID"], unique=True),
        CreateUniqueConstraintOp("UQ", "Job", ["FileID"]),
        CreateCheckConstraintOp("CK", "Job", "Attempt > 0"),
        ExecuteSQLOp("UPDATE Job SET Status = 'Failed'"),
    ],
    ids=lambda step: type(step).__name__,
)
def test_what_older_code_may_need_is_refused(step: MigrateOperation) -> None:
    assert fault_of(step, made=set())
