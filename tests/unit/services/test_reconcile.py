"""What a crash between two steps left behind is found and mended."""

import pytest

from shared.domain.errors import TransientError
from shared.domain.jobs import Job, JobStatus
from shared.domain.retries import FileOutcome, RetryFile
from tests.unit.adapters.database.rows import a_request
from tests.unit.services.world import BUSY, REFUSED, World


def mended(world: World) -> dict[str, int]:
    return {kind: count for kind, count in world.reconcile.mend().items() if count}


def noted(world: World) -> list[str]:
    """What is written down of mending, in the file's timeline."""
    return [detail["what"] for kind, _, detail in world.events() if kind == "mended"]


def test_a_healthy_world_needs_nothing(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.passes(minutes=3)
    assert mended(world) == {}


def test_messages_unsent_for_over_a_minute_are_sent(world: World) -> None:
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.accepted()
    world.down.clear()
    assert mended(world) == {}, "its own sender comes first"
    world.passes(days=3650)
    assert mended(world)["outboxesSent"] == 1
    assert world.announced() == ["JobQueued"]
    assert noted(world) == ["messages sent"]


def test_a_job_past_its_deadline_is_ended_without_its_orchestration(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.passes(minutes=16)
    assert mended(world) == {}, "the orchestration's own timer comes first"
    world.passes(minutes=2)
    assert mended(world)["jobsExpired"] == 1
    assert world.row(job).status is JobStatus.FAILED
    assert noted(world) == ["ended past its time"]


def test_a_report_that_waits_saves_the_job_here_too(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.oldest_report = world.now
    world.passes(minutes=18)
    assert mended(world) == {}
    assert world.row(job).active


def test_only_active_jobs_that_did_not_change_are_suspect(world: World) -> None:
    job = world.accepted()
    assert world.reconcile.suspects().jobs == []
    world.passes(minutes=3)
    assert [each.job_id for each in world.reconcile.suspects().jobs] == [job.job_id]
    world.reported(job, "JobSucceeded")
    world.passes(minutes=3)
    assert world.reconcile.suspects().jobs == []


def test_a_job_ten_minutes_past_its_time_is_stuck(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.passes(minutes=24)
    assert world.reconcile.suspects().stuck == frozenset()
    world.passes(minutes=2)
    assert world.reconcile.suspects().stuck == {job.job_id}


def test_files_that_wait_for_an_ended_job_are_decided(world: World) -> None:
    job = world.accepted()
    world.retried()
    world.sql.run(lambda tx: tx.jobs.change(job.job_id, JobStatus.SUCCEEDED, world.now))
    assert mended(world)["retryFilesDecided"] == 1
    (file,) = world.sql.run(lambda tx: tx.retries.files("r1", 1))
    assert file.outcome is FileOutcome.SUCCEEDED
    assert noted(world) == ["retry files decided"]
    world.send_outbox(job.job_id)
    assert world.last("ExtractionRetryResult")


def test_what_was_cancelled_is_not_asked_for_again_by_mending(world: World) -> None:
    job = world.accepted()
    world.retried()
    world.sql.run(lambda tx: tx.jobs.change(job.job_id, JobStatus.CANCELLED, world.now))
    assert mended(world)["retryFilesDecided"] == 1
    world.send_outbox(job.job_id)
    assert world.mapped() is None


def test_an_attempt_with_nothing_pending_is_closed(world: World) -> None:
    world.accepted()
    world.retried()
    world.sql.run(lambda tx: tx.retries.count_down("r1", 1, 1))
    assert mended(world)["attemptsClosed"] == 1
    request = world.sql.run(lambda tx: tx.retries.get("r1", 1))
    assert request
    assert request.closed_at == world.now
    assert noted(world) == ["attempt closed"]


def test_an_attempt_whose_result_was_lost_gets_its_successor(world: World) -> None:
    world.answers = [REFUSED]
    world.calls(world.accepted())
    (job,) = world.retried().jobs
    world.reported(job, "JobFailed", ErrorMessage="no")
    world.passes(minutes=9)
    assert "attemptsContinued" not in mended(world)
    world.passes(minutes=2)
    assert mended(world)["attemptsContinued"] == 1
    request = world.sql.run(lambda tx: tx.retries.get("r1", 1))
    assert request
    assert request.next_attempt_at is not None
    assert "next attempt asked for" in noted(world)
    assert "attemptsContinued" not in mended(world)


def decided_by_mending(world: World, job: Job) -> RetryFile:
    """The file of a request that waits for an ended job, once that was mended."""
    file = RetryFile("req-1", 1, "hash-1", job.file_id, job.job_id)
    world.sql.run(lambda tx: tx.retries.add(a_request(), [file]))
    assert mended(world)["retryFilesDecided"] == 1
    (file,) = world.sql.run(lambda tx: tx.retries.files("req-1", 1))
    return file


def test_what_failed_on_its_way_may_go_better_also_when_that_is_mended(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.reported(job, "JobFailed", ErrorMessage="no text")
    file = decided_by_mending(world, job)
    assert (file.retryable, file.error) == (True, "no text")


def test_what_was_refused_failed_for_good_also_when_that_is_mended(world: World) -> None:
    job = world.accepted()
    world.answers = [BUSY, REFUSED]
    world.calls(job)
    world.passes(minutes=1)
    world.calls(job)
    assert not decided_by_mending(world, job).retryable


def test_what_was_tried_for_an_hour_may_go_better(world: World) -> None:
    job = world.accepted()
    world.answers = [BUSY, BUSY]
    world.calls(job)
    world.passes(minutes=61)
    world.calls(job)
    assert decided_by_mending(world, job).retryable


def test_what_has_no_extractor_failed_for_good(world: World) -> None:
    world.registered = []
    assert not decided_by_mending(world, world.accepted()).retryable


def test_a_part_out_of_reach_does_not_end_the_pass(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.passes(minutes=18)
    world.down.add("service bus")
    assert mended(world)["partsOutOfReach"] >= 1
    assert world.row(job).active


def test_what_was_mended_is_written_down(world: World) -> None:
    job = world.accepted()
    world.reconcile.note(job, "orchestration started again")
    assert world.events()[-1] == (
        "mended",
        "reconciliation",
        {"what": "orchestration started again"},
    )
