"""A retry was asked for: one job for each file that needs one."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from shared.domain.errors import TransientError
from shared.domain.jobs import Job, JobStatus
from shared.domain.retries import FileOutcome, RetryFile
from tests.database import add_file
from tests.unit.services.world import REFUSED, World


@pytest.fixture
def failed(world: World) -> Job:
    """The file's first extraction, which failed, so that nothing more is asked for by itself."""
    world.answers = [REFUSED]
    job = world.accepted()
    world.calls(job)
    world.sent.clear()
    world.passes(minutes=1)
    return world.row(job)


def rows(world: World, attempt: int = 1, request: str = "r1") -> list[RetryFile]:
    return list(world.sql.run(lambda tx: tx.retries.files(request, attempt)))


def result(world: World) -> dict[str, Any]:
    message = world.last("ExtractionRetryResult")
    assert message
    document: dict[str, Any] = json.loads(message.body)
    return document


def test_a_failed_file_gets_another_job_with_the_request_in_it(world: World, failed: Job) -> None:
    (job,) = world.retried().jobs
    assert job.job_id != failed.job_id
    assert (job.attempt, job.request_id, job.status) == (2, "r1", JobStatus.QUEUED)
    assert world.announced() == ["JobQueued"]
    assert world.events()[-1][0] == "retry"


def test_a_repeat_of_the_event_finds_the_rows(world: World, failed: Job) -> None:
    first = world.retried()
    assert world.retried() == first
    assert len(world.jobs()) == 2
    assert world.announced() == ["JobQueued"]


def test_a_file_is_named_by_its_hash_or_its_id_and_several_names_make_one_job(
    world: World, failed: Job
) -> None:
    asked = world.retried(world.file.document_hash, str(world.file.file_id).upper())
    assert len(asked.jobs) == 1
    assert {row.job_id for row in rows(world)} == {asked.jobs[0].job_id}
    world.reported(asked.jobs[0], "JobSucceeded")
    world.send_outbox(asked.jobs[0].job_id)
    assert len(result(world)["successfulIds"]) == 2


def test_a_name_of_no_file_fails_for_good_and_hides_no_other(world: World, failed: Job) -> None:
    asked = world.retried("unknown-hash", world.file.document_hash)
    unknown, known = rows(world)
    assert (unknown.outcome, unknown.error) == (
        FileOutcome.FAILED,
        "File with ID unknown-hash not found",
    )
    assert not unknown.retryable
    assert known.outcome is FileOutcome.PENDING
    world.reported(asked.jobs[0], "JobSucceeded")
    world.send_outbox(asked.jobs[0].job_id)
    assert result(world)["failedIds"] == ["unknown-hash"]
    assert result(world)["successfulIds"] == [world.file.document_hash]


def test_an_attempt_with_nothing_to_do_is_closed_at_once(world: World) -> None:
    assert world.retried("nothing", "at-all").jobs == []
    assert result(world)["errors"] == {
        "nothing": "File with ID nothing not found",
        "at-all": "File with ID at-all not found",
    }
    assert world.mapped() is None


def test_a_running_job_is_adopted_and_its_end_decides(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    assert world.retried().jobs == []
    assert world.retried(request="r2").jobs == []
    assert len(world.jobs()) == 1
    world.reported(job, "JobSucceeded")
    world.send_outbox(job.job_id)
    results = [each for each in world.sent if each.subject == "ExtractionRetryResult"]
    assert sorted(each.correlation_id for each in results) == ["r1", "r2"]
    assert len(world.called) == 1


def test_a_success_since_the_request_is_not_extracted_again(world: World, failed: Job) -> None:
    asked_at = world.now
    (job,) = world.retried().jobs
    world.passes(seconds=5)
    world.reported(job, "JobSucceeded")
    assert world.retried(request="r2", at=asked_at).jobs == []
    assert rows(world, request="r2")[0].outcome is FileOutcome.SUCCEEDED
    assert result(world)["requestId"] == "r2"


def test_a_success_between_two_attempts_is_not_extracted_again(world: World, failed: Job) -> None:
    (job,) = world.retried().jobs
    world.reported(job, "JobFailed", ErrorMessage="no")
    world.passes(seconds=5)
    (other,) = world.retried(request="r2").jobs
    world.reported(other, "JobSucceeded")
    world.passes(seconds=25)
    assert world.retried(attempt=2).jobs == []
    assert rows(world, attempt=2)[0].outcome is FileOutcome.SUCCEEDED


def test_a_success_from_before_the_request_is_extracted_again(world: World) -> None:
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    world.passes(seconds=1)
    assert len(world.retried().jobs) == 1


def test_above_the_maximum_nothing_is_extracted(world: World, failed: Job) -> None:
    assert world.retried(attempt=4).jobs == []
    assert rows(world, attempt=4)[0].error == "Maximum retry attempts (3) exceeded"


def test_a_file_without_an_extractor_closes_its_attempt_and_says_so(
    world: World, failed: Job
) -> None:
    world.registered = []
    (job,) = world.retried().jobs
    assert job.status is JobStatus.FAILED
    assert "No active extractor" in result(world)["errors"][world.file.document_hash]
    assert world.mapped() is None


def test_the_job_that_ends_last_closes_the_attempt_once(world: World, failed: Job) -> None:
    other = add_file(world.sql, document_hash="hash-2")
    asked = world.retried(world.file.document_hash, other.document_hash)
    first, last = asked.jobs
    world.reported(first, "JobFailed", ErrorMessage="no text")
    world.send_outbox(first.job_id)
    assert world.last("ExtractionRetryResult") is None
    world.reported(last, "JobSucceeded")
    world.reported(last, "JobSucceeded")
    world.send_outbox(last.job_id)
    results = [each for each in world.sent if each.subject == "ExtractionRetryResult"]
    assert [each.message_id for each in results] == ["r1:1"]
    assert len(result(world)["successfulIds"]) == len(result(world)["failedIds"]) == 1
    assert list(result(world)["errors"].values()) == ["no text"]


def test_a_hundred_long_errors_fit_into_one_result(world: World, failed: Job) -> None:
    hashes = [f"{number:0128}" for number in range(100)]
    for hash_ in hashes:
        add_file(world.sql, document_hash=hash_)
    for job in world.retried(*hashes).jobs:
        world.reported(job, "JobFailed", ErrorMessage="\u0001😀" * 2000)
    world.send_outbox(job.job_id)
    errors = result(world)["errors"]
    assert list(errors) == hashes
    assert {len(error) for error in errors.values()} == {300}
    assert all(len(row.error or "") == 4000 for row in rows(world))


def test_a_single_error_is_told_whole(world: World, failed: Job) -> None:
    (job,) = world.retried().jobs
    world.reported(job, "JobFailed", ErrorMessage="x" * 4000)
    world.send_outbox(job.job_id)
    assert result(world)["errors"] == {world.file.document_hash: "x" * 4000}


def test_what_an_operator_cancels_fails_for_good_and_says_so(world: World, failed: Job) -> None:
    (job,) = world.retried().jobs
    world.reported(job, "JobCancelled", Reason="wrong file")
    world.send_outbox(job.job_id)
    assert result(world)["errors"] == {world.file.document_hash: "wrong file"}
    assert world.mapped() is None


@pytest.mark.parametrize("part", ["database", "registration"])
def test_nothing_is_written_while_a_part_is_down(world: World, failed: Job, part: str) -> None:
    world.down.add(part)
    with pytest.raises(TransientError):
        world.retried()
    world.down.clear()
    assert rows(world) == []
    assert len(world.jobs()) == 1


def test_the_result_is_flat_json_as_specified(world: World, failed: Job) -> None:
    (job,) = world.retried().jobs
    world.reported(job, "JobSucceeded")
    world.send_outbox(job.job_id)
    message = world.last("ExtractionRetryResult")
    assert message
    assert message.topic == "extraction-result"
    assert message.properties["retryAttempt"] == 1
    assert json.loads(message.body) == {
        "requestId": "r1",
        "fileIds": [world.file.document_hash],
        "successfulIds": [world.file.document_hash],
        "failedIds": [],
        "errors": {},
        "timestamp": "2026-01-01T12:01:00.000Z",
        "clientApplicationId": world.file.client_application_id,
    }


def test_a_hash_that_several_files_share_means_the_newest_of_the_client(world: World) -> None:
    twin = add_file(world.sql, client_application_id="another", document_hash="hash-1")
    world.retried()
    assert rows(world)[0].file_id == world.file.file_id
    assert twin.file_id != world.file.file_id


def test_later_attempts_keep_the_file_that_the_first_one_resolved(
    world: World, failed: Job
) -> None:
    (job,) = world.retried().jobs
    world.reported(job, "JobFailed", ErrorMessage="no")
    add_file(world.sql, uuid4(), document_hash=world.file.document_hash)
    world.passes(minutes=1)
    world.retried(attempt=2)
    assert rows(world, attempt=2)[0].file_id == world.file.file_id


def test_each_attempt_is_a_job_of_its_own_that_a_late_report_cannot_touch(
    world: World, failed: Job
) -> None:
    (first,) = world.retried().jobs
    world.reported(first, "JobFailed", ErrorMessage="no")
    world.passes(minutes=1)
    (second,) = world.retried(attempt=2).jobs
    world.reported(first, "JobSucceeded")
    assert world.row(second).status is JobStatus.QUEUED
    assert second.attempt == 3
    assert second.created_at - first.created_at >= timedelta(minutes=1)
