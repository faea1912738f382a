"""Where it is wanted, rows of finished jobs and requests are removed when they are old."""

from datetime import datetime

import pytest
from sqlalchemy import func, select

from shared.adapters.database import tables
from shared.contracts.file_accepted import FileAccepted
from shared.domain.errors import PermanentError, TransientError
from shared.domain.jobs import Job, JobStatus
from shared.services import purge as purge_service
from shared.services.cancel_job import Cancellation
from tests.database import add_file
from tests.unit.services.world import TRACE, World

OF_JOBS = (tables.job, tables.job_call, tables.outbox)
OF_REQUESTS = (tables.retry_request, tables.retry_file)


@pytest.fixture
def world(world: World) -> World:
    world.removes_jobs = True
    world.wire()
    return world


def rows(world: World) -> dict[str, int]:
    """How many rows each of our tables has; those without any are left out."""
    with world.sql.engine.begin() as connection:
        counts = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (*OF_JOBS, *OF_REQUESTS, tables.file_event)
        }
    return {name: count for name, count in counts.items() if count}


def succeeded(world: World) -> Job:
    """A file's job has succeeded."""
    job = world.accepted()
    world.calls(job)
    world.reported(job, "JobSucceeded")
    return job


def retried_and_failed(world: World) -> Job:
    """The job of a retry has failed, and may be tried again."""
    (job,) = world.retried().jobs
    world.calls(job)
    world.reported(job, "JobFailed", ErrorMessage="no text")
    world.send_outbox(job.job_id)
    return job


def accept_again(world: World, said_at: datetime) -> Job:
    """The message comes again under another id: it is enqueued at this time."""
    message = FileAccepted(FileID=world.file.file_id, Timestamp=said_at)
    return world.accept(message, world.now, TRACE)


def test_an_old_job_goes_with_all_that_is_its_own(world: World) -> None:
    succeeded(world)
    world.passes(days=31)
    assert world.purge() == {"outboxRows": 1, "requests": 0, "jobs": 1}
    assert rows(world) == {}


def test_without_the_setting_jobs_stay(world: World) -> None:
    world.removes_jobs = False
    world.wire()
    succeeded(world)
    world.passes(days=3650)
    assert world.purge() == {"outboxRows": 1}
    assert len(world.jobs()) == 1


def test_a_young_job_and_an_active_one_stay(world: World) -> None:
    young = world.file
    succeeded(world)
    world.passes(days=29)
    world.file = add_file(world.sql, document_hash="active")
    world.accepted()
    world.purge()
    assert len(world.jobs()) == 1
    world.passes(days=365)
    world.purge()
    assert len(world.jobs()) == 1, "it never ended"
    world.file = young
    assert world.jobs() == []


def test_the_jobs_of_a_file_go_together(world: World) -> None:
    succeeded(world)
    world.passes(days=20)
    world.retried()
    (_, second) = world.jobs()
    world.reported(second, "JobSucceeded")
    world.send_outbox(second.job_id)
    world.passes(days=20)
    world.purge()
    assert len(world.jobs()) == 2
    world.passes(days=20)
    world.purge()
    assert world.jobs() == []


def test_what_a_person_did_stays_in_the_timeline(world: World) -> None:
    job = world.accepted()
    world.cancel_use_case(Cancellation(job.job_id, "wrong file", "ada"))
    world.send_outbox(job.job_id)
    world.passes(days=31)
    world.purge()
    assert rows(world) == {"FileEvent": 1}
    (event,) = world.sql.run(lambda tx: tx.events.of_file(world.file.file_id))
    assert (event.actor, event.detail["message"]) == ("ada", "wrong file")


def test_a_job_with_something_to_send_stays_until_it_is_sent(world: World) -> None:
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.accepted()
    (job,) = world.jobs()
    world.reported(job, "JobSucceeded")
    world.passes(days=31)
    assert world.purge()["jobs"] == 0
    world.down.clear()
    world.send_outbox(job.job_id)
    assert world.purge()["jobs"] == 1


def test_an_open_request_keeps_itself_and_the_job_that_it_waits_for(world: World) -> None:
    add_file(world.sql, document_hash="slow")
    world.retried(world.file.document_hash, "slow")
    (job,) = world.jobs()
    world.reported(job, "JobSucceeded")
    world.send_outbox(job.job_id)
    world.passes(days=31)
    assert world.purge()["jobs"] == 0
    assert rows(world)["RetryFile"] == 2


def test_a_request_that_waits_for_its_next_attempt_stays(world: World) -> None:
    retried_and_failed(world)
    world.passes(days=31)
    assert world.purge() | {"outboxRows": 0} == {"outboxRows": 0, "requests": 0, "jobs": 0}
    assert world.mapped(), "the next attempt can still be asked for"
    world.passes(days=31)
    assert world.purge()["requests"] == 0, "it is on its way"


def test_a_request_that_is_over_goes_with_its_attempts_and_their_jobs(world: World) -> None:
    retried_and_failed(world)
    world.mapped()
    (job,) = world.retried(attempt=2).jobs
    world.reported(job, "JobSucceeded")
    world.send_outbox(job.job_id)
    world.passes(days=31)
    assert world.purge() | {"outboxRows": 0} == {"outboxRows": 0, "requests": 1, "jobs": 2}
    assert set(rows(world)) == {"FileEvent"}, "who asked for it"


def test_a_message_that_was_answered_then_makes_no_job_again(world: World) -> None:
    said_at = world.now
    succeeded(world)
    world.passes(days=31)
    world.purge()
    with pytest.raises(PermanentError) as refused:
        accept_again(world, said_at)
    assert refused.value.code == "message_too_old"
    assert world.jobs() == []


def test_a_message_that_is_answered_still_is_no_fault_however_old(world: World) -> None:
    said_at = world.now
    job = succeeded(world)
    world.passes(days=31)
    assert accept_again(world, said_at).job_id == job.job_id


def test_a_file_that_is_accepted_anew_gets_a_job_that_is_announced(world: World) -> None:
    before = succeeded(world)
    world.passes(days=31)
    world.purge()
    world.sent.clear()
    job = world.accepted()
    assert (job.job_id, job.attempt, job.status) == (before.job_id, 1, JobStatus.QUEUED)
    assert world.announced() == ["JobQueued"]


def test_a_retry_that_was_asked_for_then_is_not_made_again(world: World) -> None:
    asked_at = world.now
    succeeded(world)
    world.passes(days=31)
    world.purge()
    with pytest.raises(PermanentError) as refused:
        world.retried(at=asked_at)
    assert refused.value.code == "message_too_old"
    assert rows(world) == {}


def test_the_next_attempt_of_a_request_that_is_known_is_made_however_late(world: World) -> None:
    retried_and_failed(world)
    said_at = world.now
    world.mapped()
    world.passes(days=31)
    world.purge()
    assert len(world.retried(attempt=2, at=said_at).jobs) == 1


def test_a_file_that_is_retried_at_this_moment_keeps_its_jobs(world: World) -> None:
    succeeded(world)
    world.passes(days=31)
    found = world.sql.run(lambda tx: tx.old_data.files(world.purge.before, 10))
    world.retried(at=world.now)
    assert found == [world.file.file_id]
    assert world.sql.run(lambda tx: tx.old_data.remove_jobs(found[0], world.purge.before)) == 0
    assert len(world.jobs()) == 2


def test_many_files_go_in_small_batches(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge_service, "SMALL_BATCH", 2)
    for number in range(5):
        world.file = add_file(world.sql, document_hash=f"hash-{number}")
        succeeded(world)
    world.passes(days=31)
    before = world.steps.taken
    assert world.purge()["jobs"] == 5
    assert world.steps.taken - before == 2 * 6, "messages, requests, the files, three batches"
