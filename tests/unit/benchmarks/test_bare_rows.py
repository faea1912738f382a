"""The bare pieces leave the rows of a job behind: they do the work that they are compared for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.bare_rows import BareRows
from shared.adapters.database import SqlDatabase
from shared.domain.events import EventKind
from shared.domain.jobs import File, Job, JobStatus, first_job_id
from tests.database import add_extractor, add_file, empty_database


@pytest.fixture
def database(tmp_path: Path) -> SqlDatabase:
    database = empty_database(tmp_path)
    add_extractor(database, 101)
    return database


@pytest.fixture
def rows(database: SqlDatabase) -> Iterator[BareRows]:
    rows = BareRows(Path(database.engine.url.database or ""), "job-status", 101)
    yield rows
    rows.close()


@pytest.fixture
def file(database: SqlDatabase) -> File:
    return add_file(database)


def run_job(rows: BareRows, file: File) -> str:
    """Up to the call."""
    job_id, outbox_id = rows.accept(str(file.file_id))
    rows.begin_call(job_id, outbox_id)
    rows.record_call(job_id)
    return job_id


def job_of(database: SqlDatabase, file: File) -> Job:
    job = database.run(lambda tx: tx.jobs.get(first_job_id(file.file_id, file.document_hash)))
    assert job
    return job


def test_a_job_that_was_called_and_reported_has_succeeded(
    database: SqlDatabase, rows: BareRows, file: File
) -> None:
    job_id = run_job(rows, file)
    rows.record_report(job_id, "Started", announce=False)
    rows.record_report(job_id, "Succeeded", announce=False)

    assert job_of(database, file).status is JobStatus.SUCCEEDED
    events = database.run(lambda tx: tx.events.of_file(file.file_id))
    kinds = [EventKind.ACCEPTED, EventKind.CALL, EventKind.STATUS, EventKind.STATUS]
    assert [event.kind for event in events] == kinds


def test_a_call_back_is_announced_once(database: SqlDatabase, rows: BareRows, file: File) -> None:
    job_id = run_job(rows, file)
    first = rows.record_report(job_id, "Succeeded", announce=True)

    unsent = database.run(lambda tx: tx.outbox.unsent(first_job_id(file.file_id, "hash-1")))
    assert [(row_id, message.subject) for row_id, message in unsent] == [(first, "JobSucceeded")]
    assert rows.record_report(job_id, "Succeeded", announce=True) is None
