"""Rows to start from, and what stands in a table."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Table, select

from shared.adapters.database import SqlDatabase
from shared.domain.jobs import Call, Job, JobStatus
from shared.domain.retries import RetryFile, RetryRequest
from tests.database import add_extractor, add_file

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TRACE_PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def a_job(file_id: UUID, extractor_id: int | None = 101, **changes: Any) -> Job:
    """A queued job."""
    given: dict[str, Any] = {
        "job_id": uuid4(),
        "status": JobStatus.QUEUED,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Job(file_id=file_id, extractor_id=extractor_id, **(given | changes))


def add_job(database: SqlDatabase, **changes: Any) -> Job:
    """A queued job with its file, its extractor (101, made once) and its call."""
    file = add_file(database)
    if database.run(lambda transaction: transaction.registrations.get(101)) is None:
        add_extractor(database, 101)
    job = a_job(file.file_id, **changes)
    database.run(lambda transaction: transaction.jobs.add(job))
    database.run(lambda transaction: transaction.calls.add(a_call(job.job_id)))
    return job


def a_call(job_id: UUID) -> Call:
    return Call(job_id, TRACE_PARENT, due_at=NOW + MINUTE)


def stored_job(database: SqlDatabase, job_id: UUID) -> Job:
    job = database.run(lambda transaction: transaction.jobs.get(job_id))
    assert job is not None
    return job


def stored_call(database: SqlDatabase, job_id: UUID) -> Call:
    call = database.run(lambda transaction: transaction.calls.get(job_id))
    assert call is not None
    return call


def a_request(request_id: str = "req-1", retry_attempt: int = 1, **changes: Any) -> RetryRequest:
    """An open attempt."""
    given: dict[str, Any] = {
        "max_retries": 3,
        "reason": "manual_restart",
        "initiated_by": "ana@example.com",
        "client_application_id": "client-a",
        "asked_at": NOW,
        "created_at": NOW + MINUTE,
        "trace_parent": TRACE_PARENT,
        "pending": 1,
    }
    return RetryRequest(request_id, retry_attempt, **(given | changes))


def add_request(
    database: SqlDatabase,
    request_id: str = "req-1",
    retry_attempt: int = 1,
    waiting_for: Sequence[UUID] = (),
    **changes: Any,
) -> RetryRequest:
    """An open attempt with a pending file for each of the jobs."""
    request = a_request(request_id, retry_attempt, **{"pending": len(waiting_for), **changes})
    files = [
        RetryFile(request_id, retry_attempt, f"hash-{number}", job_id=job_id)
        for number, job_id in enumerate(waiting_for)
    ]
    database.run(lambda transaction: transaction.retries.add(request, files))
    return request


def stored_request(
    database: SqlDatabase, request_id: str = "req-1", retry_attempt: int = 1
) -> RetryRequest:
    request = database.run(lambda transaction: transaction.retries.get(request_id, retry_attempt))
    assert request is not None
    return request


def stored_files(
    database: SqlDatabase, request_id: str = "req-1", retry_attempt: int = 1
) -> Sequence[RetryFile]:
    return database.run(lambda transaction: transaction.retries.files(request_id, retry_attempt))


def count(database: SqlDatabase, table: Table) -> int:
    with database.engine.begin() as connection:
        return len(connection.execute(select(table)).all())
