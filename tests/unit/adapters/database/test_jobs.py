"""Rows of [extractor].[Job]: inserting, and the guarded change."""

from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy.exc import IntegrityError

from shared.adapters.database import SqlDatabase, tables
from shared.adapters.database.transactions import SqlTransaction
from shared.domain.errors import PermanentError
from shared.domain.jobs import ACTIVE, ENDS, PREDECESSORS, Job, JobStatus
from shared.services.ports import ConflictError
from tests.database import add_extractor, add_file
from tests.unit.adapters.database.rows import MINUTE, NOW, a_job, add_job, count, stored_job


def outcome_of_adding(database: SqlDatabase, job: Job) -> str:
    def unit(transaction: SqlTransaction) -> str:
        try:
            transaction.jobs.add(job)
        except ConflictError:
            return "conflict"
        return "added"

    return database.run(unit)


def test_a_job_comes_back_as_it_was_added(database: SqlDatabase) -> None:
    file = add_file(database)
    add_extractor(database, 101)
    job = a_job(
        file.file_id,
        status=JobStatus.FAILED,
        attempt=2,
        status_message="فشل الاستخراج",
        completed_at=NOW + MINUTE,
        extractor_response='{"error": "…"}',
        request_id="req-1",
    )

    database.run(lambda transaction: transaction.jobs.add(job))

    assert stored_job(database, job.job_id) == job


def test_an_unknown_job_is_none(database: SqlDatabase) -> None:
    assert database.run(lambda transaction: transaction.jobs.get(uuid4())) is None


@pytest.mark.parametrize("status", sorted(ACTIVE))
def test_a_second_active_job_of_file_and_extractor_is_a_conflict(
    database: SqlDatabase, status: JobStatus
) -> None:
    first = add_job(database, status=status)

    assert outcome_of_adding(database, a_job(first.file_id)) == "conflict"
    assert count(database, tables.job) == 1


@pytest.mark.parametrize("status", sorted(ENDS))
def test_an_ended_job_leaves_room_for_another(database: SqlDatabase, status: JobStatus) -> None:
    first = add_job(database, status=status)

    assert outcome_of_adding(database, a_job(first.file_id)) == "added"


def test_a_taken_job_id_is_a_conflict(database: SqlDatabase) -> None:
    first = add_job(database, status=JobStatus.SUCCEEDED)

    assert outcome_of_adding(database, first) == "conflict"


def test_a_job_without_an_extractor_is_added_failed(database: SqlDatabase) -> None:
    file = add_file(database)
    job = a_job(file.file_id, extractor_id=None, status=JobStatus.FAILED)

    database.run(lambda transaction: transaction.jobs.add(job))

    assert stored_job(database, job.job_id).extractor_id is None


def test_a_job_of_an_unknown_file_is_refused_and_not_repeated(database: SqlDatabase) -> None:
    add_extractor(database, 101)

    with pytest.raises(IntegrityError, match="FOREIGN KEY"):
        database.run(lambda transaction: transaction.jobs.add(a_job(uuid4())))


def test_a_request_id_that_does_not_fit_is_refused_by_name(database: SqlDatabase) -> None:
    file = add_file(database)

    with pytest.raises(PermanentError, match=r"Job\.RequestID has 65 UTF-16 units; at most 64"):
        database.run(lambda tx: tx.jobs.add(a_job(file.file_id, None, request_id="r" * 65)))


def test_the_jobs_of_a_file_come_oldest_first(database: SqlDatabase) -> None:
    newest = add_job(database, created_at=NOW + MINUTE, attempt=3)
    older = [
        a_job(newest.file_id, status=JobStatus.FAILED, created_at=NOW, attempt=2),
        a_job(newest.file_id, status=JobStatus.FAILED, created_at=NOW, attempt=1),
    ]
    for job in older:
        assert outcome_of_adding(database, job) == "added"
    add_job(database)

    jobs = database.run(lambda transaction: transaction.jobs.lock_of_file(newest.file_id))

    assert [job.attempt for job in jobs] == [1, 2, 3]


@pytest.mark.parametrize("before", JobStatus)
@pytest.mark.parametrize("after", JobStatus)
def test_a_change_is_made_from_an_allowed_predecessor_only(
    database: SqlDatabase, before: JobStatus, after: JobStatus
) -> None:
    job = add_job(database, status=before)

    changed = database.run(lambda tx: tx.jobs.change(job.job_id, after, NOW + MINUTE))

    allowed = before in PREDECESSORS[after]
    stored = stored_job(database, job.job_id)
    assert changed is allowed
    assert stored.status is (after if allowed else before)
    assert stored.updated_at == (NOW + MINUTE if allowed else NOW)
    assert stored.completed_at == (NOW + MINUTE if allowed and after in ENDS else None)


def test_a_change_can_be_bound_to_one_predecessor(database: SqlDatabase) -> None:
    job = add_job(database, status=JobStatus.STARTED)

    def fail(only_from: JobStatus) -> bool:
        return database.run(
            lambda tx: tx.jobs.change(job.job_id, JobStatus.FAILED, NOW, only_from=only_from)
        )

    assert fail(JobStatus.QUEUED) is False
    assert fail(JobStatus.STARTED) is True


def test_only_from_does_not_open_what_the_states_forbid(database: SqlDatabase) -> None:
    job = add_job(database, status=JobStatus.SUCCEEDED)

    changed = database.run(
        lambda tx: tx.jobs.change(job.job_id, JobStatus.STARTED, NOW, only_from=JobStatus.SUCCEEDED)
    )

    assert changed is False


def test_a_change_keeps_message_and_response_that_are_not_given(database: SqlDatabase) -> None:
    job = add_job(database, status_message="waiting", extractor_response='{"taken": true}')

    database.run(lambda tx: tx.jobs.change(job.job_id, JobStatus.STARTED, NOW))
    started = stored_job(database, job.job_id)
    database.run(
        lambda tx: tx.jobs.change(job.job_id, JobStatus.FAILED, NOW, "فشل " * 3000, '{"a": 1}')
    )
    failed = stored_job(database, job.job_id)

    assert (started.status_message, started.extractor_response) == ("waiting", '{"taken": true}')
    assert (failed.status_message, failed.extractor_response) == ("فشل " * 3000, '{"a": 1}')


def test_a_change_of_an_unknown_job_changes_nothing(database: SqlDatabase) -> None:
    assert not database.run(lambda tx: tx.jobs.change(uuid4(), JobStatus.STARTED, NOW))


def test_the_answer_to_the_call_is_kept_while_the_job_is_active(database: SqlDatabase) -> None:
    active = add_job(database, status=JobStatus.STARTED)
    ended = add_job(database, status=JobStatus.SUCCEEDED, extractor_response="final")

    database.run(lambda tx: tx.jobs.keep_response(active.job_id, "answer"))
    database.run(lambda tx: tx.jobs.keep_response(ended.job_id, "answer"))

    assert stored_job(database, active.job_id).extractor_response == "answer"
    assert stored_job(database, active.job_id).updated_at == NOW
    assert stored_job(database, ended.job_id).extractor_response == "final"


def test_a_failing_unit_leaves_nothing_behind(database: SqlDatabase) -> None:
    job = add_job(database)

    def change_then_fail(transaction: SqlTransaction) -> None:
        transaction.jobs.change(job.job_id, JobStatus.STARTED, NOW + timedelta(hours=1))
        raise PermanentError("code", "refused")

    with pytest.raises(PermanentError):
        database.run(change_then_fail)

    assert stored_job(database, job.job_id) == job
