"""Rows of [extractor].[JobCall]: the lease, and what came of each try."""

from dataclasses import replace
from uuid import uuid4

import pytest

from shared.adapters.database import SqlDatabase
from shared.domain.jobs import Call, Job, JobStatus
from tests.unit.adapters.database.rows import (
    MINUTE,
    NOW,
    TRACE_PARENT,
    a_call,
    a_job,
    add_job,
    stored_call,
)


def take_lease(database: SqlDatabase, job: Job, minutes: int = 0) -> bool:
    """Try to take a lease of five minutes, `minutes` after NOW."""
    now = NOW + minutes * MINUTE
    return database.run(lambda tx: tx.calls.take_lease(job.job_id, now, now + 5 * MINUTE))


def test_a_call_comes_back_as_it_was_added(database: SqlDatabase) -> None:
    file_id = add_job(database).file_id
    job = a_job(file_id, extractor_id=None, status=JobStatus.FAILED)
    call = Call(
        job.job_id,
        TRACE_PARENT,
        due_at=NOW,
        first_tried_at=NOW - 3 * MINUTE,
        called_at=NOW - 2 * MINUTE,
        lease_until=NOW - MINUTE,
        tries=4,
        last_error="اتصال مرفوض",
    )

    database.run(lambda tx: tx.jobs.add(job))
    database.run(lambda tx: tx.calls.add(call))

    assert stored_call(database, job.job_id) == call


def test_a_job_without_a_call_has_none(database: SqlDatabase) -> None:
    assert database.run(lambda tx: tx.calls.get(uuid4())) is None


def test_a_queued_job_gives_its_lease_to_the_first_who_asks(database: SqlDatabase) -> None:
    job = add_job(database)

    assert take_lease(database, job) is True
    assert take_lease(database, job, minutes=1) is False
    assert stored_call(database, job.job_id).lease_until == NOW + 5 * MINUTE


def test_a_lease_that_ran_out_is_taken_over(database: SqlDatabase) -> None:
    job = add_job(database)
    take_lease(database, job)

    assert take_lease(database, job, minutes=5) is False
    assert take_lease(database, job, minutes=6) is True


@pytest.mark.parametrize("status", sorted(set(JobStatus) - {JobStatus.QUEUED}))
def test_a_job_that_is_not_queued_gives_no_lease(database: SqlDatabase, status: JobStatus) -> None:
    assert take_lease(database, add_job(database, status=status)) is False


def test_a_job_that_was_taken_gives_no_lease(database: SqlDatabase) -> None:
    job = add_job(database)
    database.run(lambda tx: tx.calls.record_taken(job.job_id, NOW))

    assert take_lease(database, job, minutes=60) is False


def test_one_jobs_lease_is_not_anothers(database: SqlDatabase) -> None:
    first, second = add_job(database), add_job(database)

    assert take_lease(database, first)
    assert take_lease(database, second)


def test_a_lease_is_given_back_by_its_holder_only(database: SqlDatabase) -> None:
    job = add_job(database)
    take_lease(database, job)

    database.run(lambda tx: tx.calls.release_lease(job.job_id, NOW + 4 * MINUTE))
    kept = stored_call(database, job.job_id).lease_until
    database.run(lambda tx: tx.calls.release_lease(job.job_id, NOW + 5 * MINUTE))

    assert kept == NOW + 5 * MINUTE
    assert stored_call(database, job.job_id).lease_until is None


def test_a_taken_call_is_recorded_and_keeps_its_due_time(database: SqlDatabase) -> None:
    job = add_job(database)
    database.run(lambda tx: tx.calls.record_failure(job.job_id, NOW, "busy"))
    take_lease(database, job, minutes=1)

    database.run(lambda tx: tx.calls.record_taken(job.job_id, NOW + 2 * MINUTE))

    assert stored_call(database, job.job_id) == Call(
        job.job_id,
        TRACE_PARENT,
        due_at=a_call(job.job_id).due_at,
        first_tried_at=NOW,
        called_at=NOW + 2 * MINUTE,
        lease_until=None,
        tries=2,
        last_error=None,
    )


def test_failures_keep_the_first_time_the_last_error_and_the_due_time(
    database: SqlDatabase,
) -> None:
    job = add_job(database)

    take_lease(database, job)
    database.run(lambda tx: tx.calls.record_failure(job.job_id, NOW, "refused"))
    take_lease(database, job, minutes=1)
    database.run(lambda tx: tx.calls.record_failure(job.job_id, NOW + MINUTE, "timed out"))

    assert stored_call(database, job.job_id) == Call(
        job.job_id,
        TRACE_PARENT,
        due_at=a_call(job.job_id).due_at,
        first_tried_at=NOW,
        lease_until=None,
        tries=2,
        last_error="timed out",
    )


def test_the_due_time_is_set_alone(database: SqlDatabase) -> None:
    job = add_job(database)
    before = stored_call(database, job.job_id)

    database.run(lambda tx: tx.calls.set_due(job.job_id, NOW + 9 * MINUTE, JobStatus.QUEUED))

    assert stored_call(database, job.job_id) == replace(before, due_at=NOW + 9 * MINUTE)


def test_the_due_time_of_a_job_that_went_on_stays(database: SqlDatabase) -> None:
    job = add_job(database, status=JobStatus.STARTED)
    before = stored_call(database, job.job_id)

    database.run(lambda tx: tx.calls.set_due(job.job_id, NOW + 9 * MINUTE, JobStatus.QUEUED))

    assert stored_call(database, job.job_id) == before
