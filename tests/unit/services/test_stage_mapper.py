"""Failed extractions are tried again by themselves, within bounds."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.contracts.outgoing import OutgoingMessage
from shared.contracts.retry import ExtractionRetryResult, read_retry_result
from shared.domain.errors import NotYetError, TransientError
from shared.domain.jobs import Job
from shared.domain.retries import automatic_request_id
from tests.database import add_file
from tests.unit.services.world import BUSY, REFUSED, World


def event_of(message: OutgoingMessage | None) -> dict[str, Any]:
    assert message
    document: dict[str, Any] = json.loads(message.body)
    return document


def fails(world: World, job: Job) -> None:
    """The extractor reports the failure, and what the end has to say is sent."""
    world.reported(job, "JobFailed", ErrorMessage="no text")
    world.send_outbox(job.job_id)


def test_a_first_failure_asks_for_a_retry_after_the_first_backoff(world: World) -> None:
    job = world.accepted()
    fails(world, job)
    message = world.last("ExtractionRetryEvent")
    event = event_of(message)
    assert message
    assert message.not_before == world.now + timedelta(seconds=30)
    assert message.message_id == f"{automatic_request_id(job.job_id)}:1"
    assert event["fileIds"] == [str(world.file.file_id)]
    assert (event["reason"], event["initiatedBy"]) == ("extraction_failed", "system")
    assert (event["retryAttempt"], event["maxRetries"]) == (1, 3)


def test_our_own_failure_says_that_it_will_be_retried(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.passes(minutes=15)
    world.expires(job)
    failed = world.last("JobFailed")
    assert failed
    assert failed.properties["willRetry"] is True


def test_an_extractor_that_was_never_reached_is_tried_again(world: World) -> None:
    world.answers = [BUSY, BUSY]
    job = world.accepted()
    world.calls(job)
    world.passes(minutes=61)
    world.calls(job)
    assert world.last("ExtractionRetryEvent")


def test_what_cannot_pass_is_not_retried(world: World) -> None:
    world.answers = [REFUSED]
    job = world.accepted()
    world.calls(job)
    failed = world.last("JobFailed")
    assert failed
    assert failed.properties["willRetry"] is False
    assert world.last("ExtractionRetryEvent") is None


@pytest.mark.parametrize("end", ["JobSucceeded", "JobCancelled"])
def test_a_success_and_a_cancellation_are_not_retried(world: World, end: str) -> None:
    job = world.accepted()
    world.reported(job, end, Reason="asked for")
    world.send_outbox(job.job_id)
    assert world.last("ExtractionRetryEvent") is None


def test_a_failure_that_someone_waits_for_is_left_to_their_request(world: World) -> None:
    job = world.accepted()
    world.retried()
    fails(world, job)
    assert world.last("ExtractionRetryEvent") is None
    assert event_of(world.mapped())["requestId"] == "r1"


def test_a_failure_within_a_request_makes_no_request_of_its_own(world: World) -> None:
    world.answers = [REFUSED]
    world.calls(world.accepted())
    (job,) = world.retried().jobs
    fails(world, job)
    assert world.last("ExtractionRetryEvent") is None


def test_automatic_retries_can_be_turned_off(world: World) -> None:
    world.automatic = False
    world.wire()
    job = world.accepted()
    fails(world, job)
    assert world.last("ExtractionRetryEvent") is None


def attempt(world: World, number: int) -> OutgoingMessage | None:
    """Attempt `number` runs and fails; what the stage mapper asks for then."""
    (job,) = world.retried(attempt=number).jobs
    fails(world, job)
    return world.mapped()


def test_attempts_follow_each_other_after_doubling_pauses_up_to_the_maximum(world: World) -> None:
    world.answers = [REFUSED]
    world.calls(world.accepted())
    pauses: list[float | None] = []
    for number in (1, 2, 3):
        world.passes(hours=1)
        message = attempt(world, number)
        due: datetime | None = message.not_before if message else None
        pauses.append((due - world.now).total_seconds() if due else None)
    assert pauses == [30, 60, None]


def test_only_what_failed_and_may_pass_is_asked_for_again(world: World) -> None:
    good = add_file(world.sql, document_hash="good")
    asked = world.retried(world.file.document_hash, "good", "unknown")
    by_file = {job.file_id: job for job in asked.jobs}
    world.reported(by_file[good.file_id], "JobSucceeded")
    fails(world, by_file[world.file.file_id])
    event = event_of(world.mapped())
    assert event["fileIds"] == [world.file.document_hash]
    assert event["retryAttempt"] == 2
    assert event["initiatedBy"] == "ada@example.com"


def test_a_repeat_of_the_result_asks_once(world: World) -> None:
    asked = world.retried()
    fails(world, asked.jobs[0])
    assert world.mapped()
    world.passes(seconds=10)
    assert world.mapped() is None
    events = [each for each in world.sent if each.subject == "ExtractionRetryEvent"]
    assert len(events) == 1


def test_a_result_of_an_unknown_attempt_may_be_early(world: World) -> None:
    asked = world.retried()
    fails(world, asked.jobs[0])
    message = world.last("ExtractionRetryResult")
    assert message
    with pytest.raises(NotYetError):
        world.stage_mapper.ask_for_next_attempt(read_retry_result(message.body.encode()), 2)


def test_a_result_that_comes_while_files_are_undecided_asks_for_nothing(world: World) -> None:
    add_file(world.sql, document_hash="hash-2")
    first, last = world.retried("hash-1", "hash-2").jobs
    fails(world, first)
    early = ExtractionRetryResult(
        requestId="r1",
        fileIds=["hash-1"],
        successfulIds=[],
        failedIds=["hash-1"],
        errors={},
        timestamp=world.now,
    )
    assert world.stage_mapper.ask_for_next_attempt(early, 1) is None
    fails(world, last)
    assert event_of(world.mapped())["fileIds"] == ["hash-1", "hash-2"]


def test_what_is_sent_is_logged_with_its_request(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    request_id = world.stage_mapper.retry_extraction_batch(
        ["file-1", "file-2"], "client-a", "manual_retry", "ada@example.com"
    )
    (line,) = [line for line in caplog.messages if "Extraction retry event sent" in line]
    assert line.startswith("Extraction retry event sent for 2 file(s) ")
    assert json.loads(line.partition("(s) ")[2]) == {
        "requestId": request_id,
        "fileIds": ["file-1", "file-2"],
        "reason": "manual_retry",
        "retryAttempt": 1,
        "clientApplicationId": "client-a",
    }


def test_a_single_file_and_a_batch_are_published_once_each(world: World) -> None:
    one = world.stage_mapper.retry_extraction("hash-1", "client-a", "manual_retry", "ada")
    many = world.stage_mapper.retry_extraction_batch(["a", "b"], "client-a", "manual_retry", "ada")
    first, second = [event_of(message) for message in world.sent]
    assert (first["requestId"], first["fileIds"]) == (one, ["hash-1"])
    assert (second["requestId"], second["fileIds"]) == (many, ["a", "b"])


def test_an_empty_batch_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="Cannot retry extraction for empty file list"):
        world.stage_mapper.retry_extraction_batch([], "client-a", "manual_retry", "ada")


def test_a_broker_out_of_reach_is_told(world: World) -> None:
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.stage_mapper.retry_extraction("hash-1", "client-a", "manual_retry", "ada")
