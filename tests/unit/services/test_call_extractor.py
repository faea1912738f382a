"""The activity that calls a job's extractor."""

import json
from datetime import timedelta

import pytest

from shared.domain.errors import NotYetError, TransientError
from shared.domain.extractor_calls import Answer, Reading
from shared.domain.jobs import Job, JobStatus
from shared.services.call_extractor import LEASE_MARGIN
from tests.database import add_file
from tests.unit.services.world import BUSY, LIMITS, REFUSED, TAKEN, TRACE, World


@pytest.fixture
def job(world: World) -> Job:
    return world.accepted()


def test_the_extractor_gets_a_fresh_link_the_job_and_its_trace(world: World, job: Job) -> None:
    world.calls(job)
    ((url, link, job_id, trace),) = world.called
    assert url == world.extractor.extraction_url
    assert link.startswith("https://blobs.example/files/a b/report.pdf?")
    assert (job_id, trace) == (job.job_id, TRACE)


def test_a_taken_job_is_due_when_it_should_have_started(world: World, job: Job) -> None:
    step = world.calls(job)
    assert (step.kind, step.until) == ("taken", world.now + LIMITS.start)
    call = world.call_row(job)
    assert (call.called_at, call.lease_until, call.tries) == (world.now, None, 1)
    assert world.row(job).extractor_response == TAKEN.text
    assert world.events()[-1][2]["outcome"] == "taken"


def test_a_call_is_logged_with_what_came_of_it_and_how_long_it_took(
    world: World, job: Job, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    world.while_calling = lambda: world.passes(seconds=2)
    world.answers = [BUSY]
    world.calls(job)
    (line,) = [line for line in caplog.messages if line.startswith("Extractor called ")]
    assert json.loads(line.removeprefix("Extractor called ")) == {
        "jobId": str(job.job_id),
        "fileId": str(job.file_id),
        "extractorId": job.extractor_id,
        "attempt": 1,
        "outcome": "passing failure",
        "status": 503,
        "durationMs": 2_000,
    }


def test_a_taken_job_is_not_called_again(world: World, job: Job) -> None:
    first = world.calls(job)
    assert world.calls(job) == first
    assert len(world.called) == 1


def test_job_queued_leaves_before_the_extractor_is_called(world: World) -> None:
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.accepted()
    (job,) = world.jobs()
    with pytest.raises(TransientError):
        world.calls(job)
    assert world.called == []
    world.down.clear()
    world.while_calling = lambda: world.steps.step() if world.announced() else pytest.fail("early")
    assert world.calls(job).kind == "taken"


def test_a_lease_keeps_a_second_caller_out(world: World, job: Job) -> None:
    lease = world.now + world.longest_call + LEASE_MARGIN
    seen = []
    world.while_calling = lambda: seen.append(world.call_use_case(job.job_id))
    world.calls(job)
    assert [(step.kind, step.until) for step in seen] == [("again", lease)]
    assert len(world.called) == 1


def test_a_lease_that_ran_out_lets_another_call(world: World, job: Job) -> None:
    world.run(lambda tx: tx.calls.take_lease(job.job_id, world.now, world.now + timedelta(1)))
    world.passes(days=1, seconds=1)
    assert world.calls(job).kind == "taken"


@pytest.mark.parametrize("part", ["blob storage", "service bus"])
def test_a_part_of_ours_that_is_down_costs_no_try_and_keeps_no_lease(
    world: World, part: str
) -> None:
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.accepted()
    (job,) = world.jobs()
    world.down = {part}
    with pytest.raises(TransientError):
        world.calls(job)
    call = world.call_row(job)
    assert (call.tries, call.first_tried_at, call.lease_until) == (0, None, None)


def test_a_passing_failure_is_tried_again_after_a_pause(world: World, job: Job) -> None:
    world.answers = [BUSY, BUSY]
    step = world.calls(job)
    assert (step.kind, step.until) == ("again", world.now + timedelta(seconds=5))
    assert world.calls(job) == step, "not before its time"
    world.passes(seconds=5)
    assert world.calls(job).until == world.now + timedelta(seconds=10)
    world.passes(seconds=10)
    assert world.calls(job).kind == "taken"
    assert world.call_row(job).tries == 3


def test_retry_after_is_waited_for(world: World, job: Job) -> None:
    world.answers = [Answer(Reading.PASSING, "busy", 429, timedelta(minutes=7))]
    assert world.calls(job).until == world.now + timedelta(minutes=7)


def test_it_is_given_up_an_hour_after_the_first_try_when_another_has_failed(
    world: World, job: Job
) -> None:
    world.answers = [BUSY, BUSY]
    world.calls(job)
    world.passes(minutes=61)
    step = world.calls(job)
    assert (step.kind, step.status) == ("ended", JobStatus.FAILED)
    assert world.row(job).status_message == f"{BUSY.text}; tried 2 times"
    assert world.announced()[:2] == ["JobQueued", "JobFailed"]


def test_a_late_try_that_works_is_no_failure(world: World, job: Job) -> None:
    world.answers = [BUSY]
    world.calls(job)
    world.passes(minutes=61)
    assert world.calls(job).kind == "taken"


def test_a_refusal_fails_the_job_at_once_with_its_words(world: World, job: Job) -> None:
    world.answers = [REFUSED]
    assert world.calls(job).kind == "ended"
    assert world.row(job).status_message == REFUSED.text
    assert json.loads(world.sent[-1].body)["data"]["ErrorMessage"] == REFUSED.text


def test_a_name_that_cannot_be_linked_to_fails_the_job(world: World) -> None:
    world.file = add_file(world.sql, blob_name="../secret", document_hash="h2")
    job = world.accepted()
    world.calls(job)
    assert "dot segments" in (world.row(job).status_message or "")
    assert world.called == []


@pytest.mark.parametrize("answer", [TAKEN, BUSY, REFUSED])
@pytest.mark.parametrize("end", ["JobSucceeded", "JobFailed"])
def test_an_end_reported_during_the_call_stands(
    world: World, job: Job, answer: Answer, end: str
) -> None:
    world.answers = [answer]
    world.while_calling = lambda: world.reported(job, end, ErrorMessage="mine")
    step = world.calls(job)
    assert (step.kind, step.status) == ("ended", JobStatus(end.removeprefix("Job")))
    assert [subject for subject in world.announced() if subject.startswith("Job")] == ["JobQueued"]


@pytest.mark.parametrize("answer", [TAKEN, BUSY, REFUSED])
def test_a_start_reported_during_the_call_makes_the_run_time_out_count(
    world: World, job: Job, answer: Answer
) -> None:
    world.answers = [answer]
    world.while_calling = lambda: world.reported(job, "JobStarted")
    step = world.calls(job)
    assert (step.kind, step.status) == ("taken", JobStatus.STARTED)
    assert step.until == world.now + LIMITS.run


def test_a_job_that_waited_48_hours_is_failed_without_a_call(world: World, job: Job) -> None:
    world.passes(hours=48)
    assert world.calls(job).kind == "ended"
    assert "waited too long" in (world.row(job).status_message or "")
    assert world.called == []


def test_an_end_that_could_not_be_announced_is_announced_by_the_next_try(
    world: World, job: Job
) -> None:
    world.answers = [REFUSED]
    world.while_calling = lambda: world.down.add("service bus")
    with pytest.raises(TransientError):
        world.calls(job)
    world.down.clear()
    assert world.calls(job).kind == "ended"
    assert world.announced() == ["JobQueued", "JobFailed"]


def test_an_unknown_job_is_not_called(world: World, job: Job) -> None:
    with pytest.raises(NotYetError):
        world.call_use_case(world.file.file_id)
