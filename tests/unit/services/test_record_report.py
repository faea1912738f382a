"""A report on a job comes in."""

import json

import pytest

from shared.domain.errors import NotYetError
from shared.domain.jobs import Job, JobStatus
from tests.unit.services.world import LIMITS, World


@pytest.fixture
def job(world: World) -> Job:
    job = world.accepted()
    world.calls(job)
    world.sent.clear()
    return job


def test_a_start_makes_the_run_time_out_count(world: World, job: Job) -> None:
    world.passes(minutes=5)
    recorded = world.reported(job, "JobStarted")
    assert recorded.job.status is JobStatus.STARTED
    assert recorded.due_at == world.now + LIMITS.run


def test_a_success_is_kept_with_the_extractors_own_json(world: World, job: Job) -> None:
    world.reported(job, "JobStarted")
    world.passes(seconds=9)
    world.reported(job, "JobSucceeded", ResultSummary={"pages": 3}, Model="v7")
    row = world.row(job)
    assert row.status is JobStatus.SUCCEEDED
    assert row.completed_at == row.updated_at == world.now
    response = json.loads(row.extractor_response or "")
    assert (response["ResultSummary"], response["Model"]) == ({"pages": 3}, "v7")


def test_a_failure_is_kept_with_its_message(world: World, job: Job) -> None:
    world.reported(job, "JobFailed", ErrorMessage="The PDF is encrypted — مشفر")
    assert world.row(job).status_message == "The PDF is encrypted — مشفر"


def test_the_extractors_own_message_is_not_announced_again(world: World, job: Job) -> None:
    world.reported(job, "JobStarted")
    world.reported(job, "JobFailed", ErrorMessage="no")
    world.send_outbox(job.job_id)
    assert not [subject for subject in world.announced() if subject.startswith("Job")]


@pytest.mark.parametrize("end", ["JobSucceeded", "JobFailed"])
def test_an_end_without_a_start_is_fine(world: World, job: Job, end: str) -> None:
    assert not world.reported(job, end).job.active


def test_a_repeat_changes_nothing_and_leaves_no_trace(world: World, job: Job) -> None:
    world.reported(job, "JobSucceeded")
    before, events = world.row(job), world.events()
    world.passes(minutes=1)
    assert world.reported(job, "JobSucceeded").job == before
    assert world.events() == events


@pytest.mark.parametrize("late", ["JobStarted", "JobFailed", "JobCancelled"])
def test_an_end_is_final_and_what_comes_later_is_written_down(
    world: World, job: Job, late: str
) -> None:
    world.reported(job, "JobSucceeded")
    before = world.row(job)
    world.passes(minutes=1)
    assert world.reported(job, late, Reason="late").job == before
    kind, source, detail = world.events()[-1]
    assert (kind, source) == ("status", "topic")
    assert (detail["refused"], detail["standing"]) == (late.removeprefix("Job"), "Succeeded")


def test_a_status_of_an_unknown_job_may_be_early(world: World, job: Job) -> None:
    unknown = Job(world.file.file_id, job.file_id, 1, job.status, job.created_at, job.updated_at)
    with pytest.raises(NotYetError, match="not known"):
        world.reported(unknown, "JobStarted")
