"""A database in use is migrated: its rows stay, and the release before goes on writing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, MetaData, insert, select

from migrations.local_tables import create_read_only_tables
from migrations.upgrade import upgrade
from shared.adapters.database import SqlDatabase, create_engine
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.jobs import JobStatus
from tests.database import add_extractor, add_file
from tests.unit.adapters.database.rows import NOW, TRACE_PARENT, a_request, stored_job

ROOT = Path(__file__).parents[4]
WRITTEN = ["Job", "JobCall", "FileEvent", "Outbox"]
AT = "2026-03-01T12:00:00.123456Z"


class ReleaseBefore:
    """Knows the tables as revision 0001 made them, and no others."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.tables = MetaData()
        self.tables.reflect(engine, only=WRITTEN)

    def write(self, file_id: UUID) -> UUID:
        """A job with all that belongs to it."""
        job_id = uuid4()
        ids = {"JobID": str(job_id), "FileID": str(file_id)}
        rows: dict[str, dict[str, Any]] = {
            "Job": ids
            | {
                "ClientApplicationExtractorID": 101,
                "Status": "Queued",
                "CreatedAt": AT,
                "UpdatedAt": AT,
                "Attempt": 1,
            },
            "JobCall": {
                "JobID": ids["JobID"],
                "TraceParent": TRACE_PARENT,
                "DueAt": AT,
                "Tries": 0,
            },
            "FileEvent": ids | {"At": AT, "Kind": "accepted", "Source": "file", "Detail": "{}"},
            "Outbox": {
                "JobID": ids["JobID"],
                "Topic": "job-status",
                "MessageID": f"{job_id}:Queued",
                "Body": "{}",
                "Properties": '{"subject": "JobQueued", "correlationId": "c", "properties": {}}',
            },
        }
        with self.engine.begin() as connection:
            for name, row in rows.items():
                connection.execute(insert(self.tables.tables[name]).values(row))
        return job_id

    def read(self) -> dict[str, list[tuple[Any, ...]]]:
        with self.engine.begin() as connection:
            return {
                name: [tuple(row) for row in connection.execute(select(table))]
                for name, table in self.tables.tables.items()
            }


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqlDatabase]:
    """A database as revision 0001 made it, with an extractor."""
    url = f"sqlite:///{tmp_path / 'extractor.db'}"
    config = Config(ROOT / "alembic.ini", attributes={"url": url})
    command.upgrade(config, "0001")
    database = SqlDatabase(create_engine(url))
    create_read_only_tables(database.engine)
    add_extractor(database, 101)
    yield database
    database.close()


def migrate(database: SqlDatabase) -> None:
    upgrade(str(database.engine.url))


def unsent(database: SqlDatabase, job_id: UUID) -> list[OutgoingMessage]:
    return [message for _, message in database.run(lambda tx: tx.outbox.unsent(job_id))]


def test_every_row_is_kept_as_it_was(database: SqlDatabase) -> None:
    before = ReleaseBefore(database.engine)
    for _ in range(3):
        before.write(add_file(database, document_hash=str(uuid4())).file_id)
    rows = before.read()

    migrate(database)

    assert before.read() == rows
    assert [len(rows[name]) for name in WRITTEN] == [3, 3, 3, 3]


def test_what_the_release_before_wrote_is_read_and_changed(database: SqlDatabase) -> None:
    job_id = ReleaseBefore(database.engine).write(add_file(database).file_id)

    migrate(database)

    [message] = unsent(database, job_id)
    assert message.message_id == f"{job_id}:Queued"
    assert database.run(lambda tx: tx.jobs.change(job_id, JobStatus.STARTED, NOW)) is True
    assert stored_job(database, job_id).status is JobStatus.STARTED


def test_the_release_before_goes_on_writing(database: SqlDatabase) -> None:
    before = ReleaseBefore(database.engine)
    migrate(database)

    job_id = before.write(add_file(database).file_id)

    assert stored_job(database, job_id).status is JobStatus.QUEUED
    assert len(unsent(database, job_id)) == 1


def test_both_releases_write_side_by_side(database: SqlDatabase) -> None:
    before = ReleaseBefore(database.engine)
    migrate(database)
    message = OutgoingMessage("job-status", "id-1", "JobStarted", "{}", "c")
    job_id = before.write(add_file(database).file_id)

    database.run(lambda tx: tx.outbox.add(message, job_id))
    database.run(lambda tx: tx.retries.add(a_request(), []))

    assert len(before.read()["Outbox"]) == len(unsent(database, job_id)) == 2
