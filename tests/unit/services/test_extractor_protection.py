"""An extractor gets no more than it can take, is left alone while it fails, and can be paused."""

from datetime import timedelta

import pytest

from shared.domain.errors import NotFoundError
from shared.domain.extractor_health import FAILURES_TO_OPEN
from shared.domain.jobs import Job, JobStatus
from tests.database import add_file
from tests.unit.services.world import BUSY, LIMITS, World


def jobs_for(world: World, count: int) -> list[Job]:
    """Jobs of files of their own for the one extractor."""
    made = []
    for number in range(count):
        world.file = add_file(world.sql, document_hash=f"hash-{number}")
        made.append(world.accepted())
    return made


def break_circuit(world: World) -> list[Job]:
    """As many jobs as it takes have failed to be called."""
    jobs = jobs_for(world, FAILURES_TO_OPEN)
    world.answers = [BUSY] * FAILURES_TO_OPEN
    for job in jobs:
        world.calls(job)
    assert len(world.called) == FAILURES_TO_OPEN
    return jobs


def test_beyond_its_slots_jobs_wait_and_are_not_failed(world: World) -> None:
    world.most_active = 2
    world.wire()
    first, second, third = jobs_for(world, 3)
    world.calls(first)
    world.calls(second)
    step = world.calls(third)
    assert (step.kind, step.until) == ("again", world.now + timedelta(seconds=15))
    assert len(world.called) == 2
    world.reported(first, "JobSucceeded")
    world.passes(seconds=15)
    assert world.calls(third).kind == "taken"


def test_who_has_waited_long_for_a_slot_looks_less_often(world: World) -> None:
    world.most_active = 1
    world.wire()
    first, second = jobs_for(world, 2)
    world.calls(first)
    pauses = []
    for minutes in (0, 2, 5, 60):
        world.passes(minutes=minutes)
        step = world.calls(second)
        assert step.until
        pauses.append((step.until - world.now).total_seconds())
    assert pauses == [15, 15, 21, 60]


def test_a_job_that_is_being_called_holds_a_slot(world: World) -> None:
    world.most_active = 1
    world.wire()
    first, second = jobs_for(world, 2)
    seen = []
    world.while_calling = lambda: seen.append(world.call_use_case(second.job_id).kind)
    world.calls(first)
    assert seen == ["again"]
    assert len(world.called) == 1


def test_an_extractor_that_fails_steadily_is_left_alone(world: World) -> None:
    break_circuit(world)
    (another,) = jobs_for(world, 1)
    step = world.calls(another)
    assert (step.kind, step.until) == ("again", world.now + timedelta(seconds=30))
    assert len(world.called) == FAILURES_TO_OPEN


def test_one_job_probes_it_while_the_others_wait(world: World) -> None:
    jobs = break_circuit(world)
    world.passes(seconds=30)
    seen = []
    world.while_calling = lambda: seen.append(world.call_use_case(jobs[1].job_id).kind)
    assert world.calls(jobs[0]).kind == "taken"
    assert seen == ["again"]
    world.while_calling = lambda: None
    world.passes(minutes=2)
    assert world.calls(jobs[1]).kind == "taken"


def test_a_probe_that_fails_leaves_it_alone_for_longer(world: World) -> None:
    jobs = break_circuit(world)
    world.passes(seconds=30)
    world.answers = [BUSY]
    world.calls(jobs[0])
    (view,) = world.extractor_views.all()
    assert view.health.open_until == world.now + timedelta(seconds=60)


def test_who_waits_for_a_probe_looks_again_before_its_lease_has_run_out(world: World) -> None:
    jobs = break_circuit(world)
    world.passes(seconds=30)
    seen = []
    world.while_calling = lambda: seen.append(world.call_use_case(jobs[1].job_id))
    world.calls(jobs[0])
    (step,) = seen
    assert step.until == world.now + timedelta(seconds=30)
    world.passes(seconds=30)
    assert world.calls(jobs[1]).kind == "taken"


def test_one_outage_that_fails_many_calls_at_once_opens_it_no_longer(world: World) -> None:
    jobs = jobs_for(world, 3 * FAILURES_TO_OPEN)
    world.answers = [BUSY] * len(jobs)
    waiting = iter(jobs)

    def all_are_under_way() -> None:
        if job := next(waiting, None):
            world.calls(job)

    world.while_calling = all_are_under_way
    all_are_under_way()
    assert len(world.called) == len(jobs)
    (another,) = jobs_for(world, 1)
    assert world.calls(another).until == world.now + timedelta(seconds=30)


def test_an_answer_in_between_starts_the_count_again(world: World) -> None:
    jobs = jobs_for(world, FAILURES_TO_OPEN + 1)
    world.answers = [BUSY] * (FAILURES_TO_OPEN - 1)
    for job in jobs[:-2]:
        world.calls(job)
    world.calls(jobs[-2])
    world.answers = [BUSY]
    world.calls(jobs[-1])
    (view,) = world.extractor_views.all()
    assert view.health.failures == 1


def test_waiting_is_not_counted_against_a_jobs_time(world: World) -> None:
    (job, *_) = break_circuit(world)
    world.extractor_views.pause(101, "moved", "ada")
    for _ in range(3):
        world.passes(minutes=1)
        world.calls(job)
    first_tried = world.call_row(job).first_tried_at
    assert first_tried
    assert world.now - first_tried < timedelta(minutes=1, seconds=30)
    world.extractor_views.resume(101)
    world.passes(minutes=LIMITS.call.total_seconds() / 60 - 5)
    world.answers = [BUSY]
    assert world.calls(job).kind == "again"


def test_a_paused_extractor_is_not_called_and_its_jobs_wait(world: World) -> None:
    (job,) = jobs_for(world, 1)
    world.extractor_views.pause(101, "moved", "ada")
    assert world.calls(job).until == world.now + timedelta(minutes=1)
    assert world.called == []
    assert world.row(job).status is JobStatus.QUEUED
    world.extractor_views.resume(101)
    world.passes(minutes=1)
    assert world.calls(job).kind == "taken"


def test_48_hours_bound_the_waiting_too(world: World) -> None:
    (job,) = jobs_for(world, 1)
    world.extractor_views.pause(101, "moved", "ada")
    world.passes(hours=48)
    assert world.calls(job).status is JobStatus.FAILED


def test_resuming_closes_the_circuit(world: World) -> None:
    break_circuit(world)
    world.extractor_views.resume(101)
    (another,) = jobs_for(world, 1)
    assert world.calls(another).kind == "taken"


def test_an_extractor_that_is_not_registered_cannot_be_paused(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.extractor_views.pause(999, "moved", "ada")


def test_a_view_tells_slots_failures_and_pauses(world: World) -> None:
    (job,) = jobs_for(world, 1)
    world.calls(job)
    world.extractor_views.pause(101, "moved", "ada")
    (view,) = world.extractor_views.all()
    assert (view.active_jobs, view.registered.client_application_id) == (1, "client-a")
    assert (view.health.paused_by, view.health.pause_reason) == ("ada", "moved")
