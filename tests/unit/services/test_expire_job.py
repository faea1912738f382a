"""The activity that ends a job whose time is up."""

from datetime import timedelta

import pytest

from shared.domain.errors import TransientError
from shared.domain.jobs import Job, JobStatus
from tests.unit.services.world import LIMITS, World


@pytest.fixture
def job(world: World) -> Job:
    job = world.accepted()
    world.calls(job)
    return job


def test_before_its_deadline_a_job_keeps_its_time(world: World, job: Job) -> None:
    due = world.now + LIMITS.start
    world.passes(minutes=14)
    step = world.expires(job)
    assert (step.kind, step.until) == ("taken", due)


def test_a_job_that_never_started_fails_and_says_so(world: World, job: Job) -> None:
    world.passes(minutes=15)
    assert world.expires(job).status is JobStatus.FAILED
    assert "did not start within 15 minutes" in (world.row(job).status_message or "")
    assert world.announced() == ["JobQueued", "JobFailed", "ExtractionRetryEvent"]


def test_a_job_that_never_finished_fails_and_says_so(world: World, job: Job) -> None:
    world.reported(job, "JobStarted")
    world.passes(minutes=60)
    assert world.expires(job).status is JobStatus.FAILED
    assert "did not finish within 60 minutes" in (world.row(job).status_message or "")


def test_a_start_moves_the_deadline(world: World, job: Job) -> None:
    world.passes(minutes=14)
    world.reported(job, "JobStarted")
    due = world.now + LIMITS.run
    world.passes(minutes=2)
    assert world.expires(job).until == due


def test_an_ended_job_has_ended(world: World, job: Job) -> None:
    world.reported(job, "JobSucceeded")
    world.passes(hours=2)
    assert world.expires(job).status is JobStatus.SUCCEEDED


def test_a_report_that_waits_from_before_the_deadline_is_waited_for(world: World, job: Job) -> None:
    world.passes(minutes=15)
    world.oldest_report = world.now - timedelta(seconds=1)
    step = world.expires(job)
    assert (step.kind, step.until) == ("taken", world.now + timedelta(minutes=1))
    assert world.row(job).active


def test_reports_from_after_the_deadline_save_no_job(world: World, job: Job) -> None:
    world.passes(minutes=16)
    world.oldest_report = world.now - timedelta(seconds=1)
    assert world.expires(job).kind == "ended"


def test_waiting_reports_are_waited_for_an_hour_at_most(world: World, job: Job) -> None:
    world.oldest_report = world.now
    world.passes(minutes=15 + 60)
    assert world.expires(job).kind == "ended"


def test_while_the_subscription_cannot_be_looked_at_no_job_is_failed(
    world: World, job: Job
) -> None:
    world.passes(minutes=15)
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.expires(job)
    assert world.row(job).active


def test_a_job_that_was_never_called_goes_back_to_its_call(world: World) -> None:
    job = world.accepted()
    assert world.expires(job).kind == "again"
