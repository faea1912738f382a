"""The migrations make the tables that the code describes, on SQLite and as T-SQL."""

import io
import time
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Dialect, MetaData, Table, inspect
from sqlalchemy.dialects import mssql
from sqlalchemy.schema import (
    BLANK_SCHEMA,
    CreateColumn,
    CreateIndex,
    CreateTable,
    ExecutableDDLElement,
)

from migrations.local_tables import create_read_only_tables
from migrations.upgrade import upgrade
from shared.adapters.database import SqlDatabase, create_engine
from shared.adapters.database.tables import EXTRACTOR, metadata, outbox

SQL_SERVER: Dialect = mssql.dialect()  # type: ignore[no-untyped-call]
ROOT = Path(__file__).parents[4]
ADDED_LATER = [outbox.c.CreatedAt]
"""Columns that a later revision than their table's adds."""


def alembic_config(output: io.StringIO | None = None) -> Config:
    return Config(ROOT / "alembic.ini", output_buffer=output)


@pytest.fixture(scope="module")
def script() -> str:
    """The whole T-SQL script for a DBA."""
    output = io.StringIO()
    command.upgrade(alembic_config(output), "head", sql=True)
    return " ".join(output.getvalue().split())


def tsql(construct: ExecutableDDLElement | CreateColumn) -> str:
    return " ".join(str(construct.compile(dialect=SQL_SERVER)).split())


def without_schemas() -> MetaData:
    """The tables as they stand in SQLite."""
    plain = MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(
            plain,
            schema=None,  # type: ignore[arg-type]
            referred_schema_fn=lambda *_: BLANK_SCHEMA,  # type: ignore[arg-type]
        )
    return plain


def test_the_migrated_schema_is_the_one_that_the_code_describes(database: SqlDatabase) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, without_schemas()) == []


def test_the_filtered_indexes_and_the_check_constraint_are_made(database: SqlDatabase) -> None:
    with database.engine.connect() as connection:
        inspector = inspect(connection)
        [check] = inspector.get_check_constraints("Job")
        conditions = {
            index["name"]: str(index["dialect_options"]["sqlite_where"])
            for table in ("Job", "Outbox", "RetryRequest")
            for index in inspector.get_indexes(table)
            if "sqlite_where" in index.get("dialect_options", {})
        }

    assert check["name"] == "CK_Job_Status"
    assert conditions == {
        "UX_Job_Active": "Status IN ('Queued', 'Started')",
        "IX_Outbox_Unsent": "SentAt IS NULL",
        "IX_RetryRequest_Open": "ClosedAt IS NULL",
    }


@pytest.mark.parametrize("table", [t for t in metadata.sorted_tables if t.schema == EXTRACTOR])
def test_the_script_creates_each_table_and_index_as_the_code_describes_it(
    script: str, table: Table
) -> None:
    create = tsql(CreateTable(table))
    for column in set(ADDED_LATER) & set(table.columns):
        create = create.replace(f" {tsql(CreateColumn(column))},", "")

    for statement in [create, *(tsql(CreateIndex(index)) for index in table.indexes)]:
        assert statement in script


@pytest.mark.parametrize(
    "part",
    [
        "[JobID] UNIQUEIDENTIFIER NOT NULL",
        "[FileID] UNIQUEIDENTIFIER NOT NULL",
        "[ClientApplicationExtractorID] INTEGER NULL",
        "[Status] VARCHAR(50) NOT NULL",
        "[StatusMessage] VARCHAR(max) COLLATE Latin1_General_100_CI_AS_SC_UTF8 NULL",
        "[CreatedAt] DATETIMEOFFSET NOT NULL",
        "[UpdatedAt] DATETIMEOFFSET NOT NULL",
        "[CompletedAt] DATETIMEOFFSET NULL",
        "[ExtractorResponse] NVARCHAR(max) NULL",
        "[RequestID] VARCHAR(64) NULL",
        "[TraceParent] VARCHAR(55) NOT NULL",
        "[OutboxID] BIGINT NOT NULL IDENTITY",
        "CHECK (Status IN ('Queued', 'Started', 'Succeeded', 'Failed', 'Cancelled'))",
        "FOREIGN KEY([FileID]) REFERENCES [file].[File] ([FileID])",
        "REFERENCES registration.[ClientApplicationExtractor] ([ClientApplicationExtractorID])",
        "CREATE INDEX [IX_FileID] ON extractor.[Job] ([FileID])",
        "CREATE INDEX [IX_ClientApplicationExtractorID] ON extractor.[Job]",
        "CREATE INDEX [IX_Status] ON extractor.[Job] ([Status])",
        "CREATE UNIQUE INDEX [UX_Job_Active] ON extractor.[Job]"
        " ([FileID], [ClientApplicationExtractorID]) WHERE Status IN ('Queued', 'Started')",
        "UNIQUE ([Topic], [MessageID])",
        "ON extractor.[Outbox] ([JobID]) WHERE SentAt IS NULL",
        "ALTER TABLE extractor.[Outbox] ADD [CreatedAt] DATETIMEOFFSET NULL",
        "CREATE TABLE extractor.[RetryRequest] ( [RequestID] VARCHAR(64) NOT NULL,"
        " [RetryAttempt] INTEGER NOT NULL,",
        "[Reason] NVARCHAR(1000) NOT NULL",
        "[InitiatedBy] NVARCHAR(320) NOT NULL",
        "PRIMARY KEY ([RequestID], [RetryAttempt])",
        "ON extractor.[RetryRequest] ([CreatedAt]) WHERE ClosedAt IS NULL",
        "[FileRef] VARCHAR(128) COLLATE Latin1_General_100_BIN2 NOT NULL",
        "[Retryable] BIT NOT NULL",
        "CHECK (Outcome IN ('pending', 'succeeded', 'failed'))",
        "REFERENCES extractor.[RetryRequest] ([RequestID], [RetryAttempt])",
        "UNIQUE ([RequestID], [RetryAttempt], [FileRef])",
        "CREATE INDEX [IX_RetryFile_JobID] ON extractor.[RetryFile] ([JobID])",
    ],
)
def test_the_script_holds_what_the_specification_asks_for(script: str, part: str) -> None:
    assert part in script


def test_the_script_makes_the_schema_first_and_the_rest_in_one_transaction(script: str) -> None:
    steps = [
        "SET QUOTED_IDENTIFIER ON",
        "IF SCHEMA_ID(N'extractor') IS NULL EXEC(N'CREATE SCHEMA [extractor]')",
        "BEGIN TRANSACTION",
        "CREATE TABLE extractor.alembic_version",
        "CREATE TABLE extractor.[Job]",
        "COMMIT",
    ]
    places = [script.index(step) for step in steps]
    assert places == sorted(places)


def test_the_script_leaves_the_tables_of_other_services_alone(script: str) -> None:
    assert "CREATE TABLE [file]" not in script
    assert "CREATE TABLE registration" not in script
    assert "Documents" not in script
    assert "ExtractedEntities" not in script


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'extractor.db'}"
    upgrade(url)
    upgrade(url)

    engine = create_engine(url)
    create_read_only_tables(engine)
    create_read_only_tables(engine)
    engine.dispose()


def test_every_revision_can_be_taken_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'extractor.db'}"
    upgrade(url)
    config = alembic_config()
    config.attributes["url"] = url

    command.downgrade(config, "base")

    engine = create_engine(url)
    assert inspect(engine).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_the_database_is_taken_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'from-environment.db'}")

    command.upgrade(alembic_config(), "head")

    assert (tmp_path / "from-environment.db").exists()


def test_without_a_database_the_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)

    with pytest.raises(SystemExit, match="DATABASE_URL"):
        command.upgrade(alembic_config(), "head")


def test_a_whole_database_is_made_in_a_moment(tmp_path: Path) -> None:
    started = time.process_time()
    url = f"sqlite:///{tmp_path / 'extractor.db'}"
    upgrade(url)
    engine = create_engine(url)
    create_read_only_tables(engine)
    engine.dispose()

    assert time.process_time() - started < 0.3
