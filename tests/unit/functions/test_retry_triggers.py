"""The triggers of the retry loop: an event asks, a result decides what is asked for next."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared import wiring
from shared.contracts.outgoing import OutgoingMessage
from shared.contracts.wire import ContractError
from shared.domain.errors import NotYetError, PermanentError
from shared.domain.jobs import JobStatus
from shared.domain.retries import FileOutcome, RetryFile
from shared.functions import holding, on_extraction_result, on_extraction_retry
from shared.functions.holding import Patience
from tests.database import add_file, empty_database
from tests.unit.functions.fakes import DurableClient, Message
from tests.unit.services.world import REFUSED, TRACE, World

ask = on_extraction_retry.on_extraction_retry._function.get_user_function().client_function
decide = on_extraction_result.on_extraction_result._function.get_user_function()

SHORT = Patience(
    held=timedelta(milliseconds=100),
    not_yet=timedelta(milliseconds=20),
    afterwards=timedelta(milliseconds=100),
    first_pause=timedelta(milliseconds=5),
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The file's first extraction was refused, a minute ago."""
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    monkeypatch.setattr(holding, "PATIENCE", SHORT)
    world.answers = [REFUSED]
    world.calls(world.accepted())
    world.sent.clear()
    world.passes(minutes=1)
    return world


@pytest.fixture
def client() -> DurableClient:
    return DurableClient()


def retry(world: World, *refs: str, **fields: Any) -> Message:
    document = {
        "requestId": "r1",
        "fileIds": list(refs or [world.file.document_hash]),
        "reason": "manual_restart",
        "retryAttempt": 1,
        "maxRetries": 3,
        "clientApplicationId": "web-console",
        "initiatedBy": "ada@example.com",
        "timestamp": world.now.isoformat(),
    }
    return Message(document | fields, enqueued_time_utc=world.now)


def result(world: World, **properties: Any) -> Message:
    """The last result that went out, as it comes in."""
    message = world.last("ExtractionRetryResult")
    assert message
    return Message(
        json.loads(message.body), application_properties={**message.properties, **properties}
    )


def rows(world: World, attempt: int = 1) -> list[RetryFile]:
    return list(world.sql.run(lambda tx: tx.retries.files("r1", attempt)))


def events(world: World) -> list[OutgoingMessage]:
    return [each for each in world.sent if each.subject == "ExtractionRetryEvent"]


# An event


async def test_a_single_file_is_extracted_again(world: World, client: DurableClient) -> None:
    await ask(retry(world), client)
    _, job = world.jobs()
    assert world.announced() == ["JobQueued"]
    assert client.started == [("extraction", str(job.job_id), {"jobId": str(job.job_id)})]


async def test_every_file_of_a_batch_is_extracted_again(
    world: World, client: DurableClient
) -> None:
    hashes = [f"hash-of-{number}" for number in range(3)]
    for hash_ in hashes:
        add_file(world.sql, document_hash=hash_)
    await ask(retry(world, *hashes), client)
    assert len(client.started) == 3
    assert [row.file_ref for row in rows(world)] == hashes


async def test_what_cannot_be_extracted_hides_nothing_else(
    world: World, client: DurableClient
) -> None:
    await ask(retry(world, "unknown", world.file.document_hash), client)
    assert [row.outcome for row in rows(world)] == [FileOutcome.FAILED, FileOutcome.PENDING]
    assert len(client.started) == 1
    assert world.last("ExtractionRetryResult") is None


async def test_above_the_maximum_the_result_says_so_and_nothing_is_extracted(
    world: World, client: DurableClient
) -> None:
    message = retry(world, retryAttempt=4, timestamp=None)
    await ask(message, client)
    assert client.started == []
    assert result(world).document["failedIds"] == [world.file.document_hash]
    assert result(world).document["errors"] == {
        world.file.document_hash: "Maximum retry attempts (3) exceeded"
    }


async def test_an_attempt_that_is_over_at_once_tells_its_result(
    world: World, client: DurableClient
) -> None:
    await ask(retry(world, "unknown"), client)
    assert world.announced() == ["ExtractionRetryResult"]


async def test_the_trace_of_the_event_goes_with_the_jobs_and_the_result(
    world: World, client: DurableClient
) -> None:
    message = retry(world, world.file.document_hash, "unknown")
    message.application_properties = {"traceparent": TRACE}
    await ask(message, client)
    _, job = world.jobs()
    world.reported(job, "JobSucceeded")
    world.send_outbox(job.job_id)
    assert {each.properties["traceparent"] for each in world.sent} == {TRACE}


async def test_a_repeat_starts_what_is_not_running_and_makes_nothing(
    world: World, client: DurableClient
) -> None:
    await ask(retry(world), client)
    await ask(retry(world), client)
    client.running.clear()
    await ask(retry(world), client)
    assert len(world.jobs()) == 2
    assert len(client.started) == 2


async def test_a_late_repeat_after_the_end_changes_nothing(
    world: World, client: DurableClient
) -> None:
    await ask(retry(world), client)
    _, job = world.jobs()
    world.reported(job, "JobSucceeded")
    world.send_outbox(job.job_id)
    before = (world.jobs(), rows(world), list(world.sent))
    client.running.clear()
    await ask(retry(world), client)
    assert (world.jobs(), rows(world), list(world.sent)) == before
    assert len(client.started) == 1


async def test_a_job_of_another_request_is_waited_for_and_not_started_again(
    world: World, client: DurableClient
) -> None:
    await ask(retry(world), client)
    await ask(retry(world, requestId="r2"), client)
    assert len(world.jobs()) == 2
    assert len(client.started) == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"fileIds": []}, "must contain at least one fileId"),
        ({"requestId": None}, "must contain a requestId"),
        ({"retryAttempt": 0}, "retryAttempt"),
        ({"fileIds": ["x"] * 101}, "fileIds"),
    ],
)
async def test_an_event_that_breaks_the_contract_is_refused_once_in_words(
    world: World,
    client: DurableClient,
    caplog: pytest.LogCaptureFixture,
    fields: dict[str, Any],
    words: str,
) -> None:
    for delivery in (1, 2, 3):
        message = retry(world, **fields)
        message.delivery_count = delivery
        with pytest.raises(ContractError, match=words):
            await ask(message, client)
    assert [line.startswith("Message refused") for line in caplog.messages] == [True]
    assert client.started == []


async def test_what_fits_no_column_is_refused_for_good(world: World, client: DurableClient) -> None:
    with pytest.raises(PermanentError, match=r"RetryRequest\.InitiatedBy"):
        await ask(retry(world, initiatedBy="😀" * 320), client)
    assert world.announced() == []


async def test_an_unknown_major_version_is_refused(world: World, client: DurableClient) -> None:
    message = retry(world)
    message.application_properties = {"schemaVersion": "2.0"}
    with pytest.raises(ContractError, match="schemaVersion"):
        await ask(message, client)


async def test_a_part_that_comes_back_while_the_event_is_held_costs_no_delivery(
    world: World, client: DurableClient
) -> None:
    world.down.add("registration")
    tries: list[int] = []

    def comes_back() -> None:
        tries.append(1)
        if len(tries) > 12:
            world.down.clear()

    world.steps.step = comes_back  # type: ignore[method-assign]
    await ask(retry(world), client)
    assert len(client.started) == 1


async def test_what_a_durable_backend_that_stays_away_did_not_start_a_repeat_starts(
    world: World, client: DurableClient
) -> None:
    client.failures = 1_000
    await ask(retry(world), client)
    assert client.started == []
    client.failures = 0
    await ask(retry(world), client)
    assert len(client.started) == 1
    assert len(world.jobs()) == 2
    assert world.announced() == ["JobQueued"]


async def test_an_event_is_logged_with_its_context(
    world: World, client: DurableClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    await ask(retry(world), client)
    (line,) = [line for line in caplog.messages if "Processing extraction retry" in line]
    facts = json.loads(line.partition("request ")[2])
    assert facts.pop("waitedMs") >= 0
    assert facts == {
        "requestId": "r1",
        "fileCount": 1,
        "fileIds": [world.file.document_hash],
        "reason": "manual_restart",
        "retryAttempt": 1,
        "clientApplicationId": "web-console",
        "jobs": 1,
    }


# A result


async def failed_attempt(world: World, client: DurableClient) -> None:
    """The file's attempt has failed, for a reason that may pass."""
    await ask(retry(world), client)
    job = world.jobs()[-1]
    world.reported(job, "JobFailed", ErrorMessage="no text")
    world.send_outbox(job.job_id)


async def test_what_failed_and_may_pass_is_asked_for_again(
    world: World, client: DurableClient
) -> None:
    await failed_attempt(world, client)
    await decide(result(world))
    (message,) = events(world)
    assert message.message_id == "r1:2"
    assert message.not_before == world.now + timedelta(seconds=30)
    assert json.loads(message.body)["retryAttempt"] == 2


async def test_a_repeat_of_the_result_asks_once(world: World, client: DurableClient) -> None:
    await failed_attempt(world, client)
    for _ in range(3):
        await decide(result(world))
        world.passes(seconds=10)
    assert len(events(world)) == 1


async def test_what_could_not_be_sent_a_repeat_sends_for_the_time_that_was_decided(
    world: World, client: DurableClient
) -> None:
    await failed_attempt(world, client)
    message = result(world)
    world.down.add("service bus")
    await decide(message)
    assert events(world) == []
    world.down.clear()
    due = world.now + timedelta(seconds=30)
    world.passes(seconds=10)
    await decide(message)
    assert [each.not_before for each in events(world)] == [due]


async def test_a_success_asks_for_nothing(world: World, client: DurableClient) -> None:
    await ask(retry(world), client)
    _, job = world.jobs()
    world.reported(job, "JobSucceeded")
    world.send_outbox(job.job_id)
    await decide(result(world))
    assert events(world) == []


async def test_the_attempt_is_the_one_that_the_property_tells(
    world: World, client: DurableClient
) -> None:
    await failed_attempt(world, client)
    with pytest.raises(NotYetError):
        await decide(result(world, retryAttempt="2"))
    await decide(result(world, retryAttempt="1"))
    assert len(events(world)) == 1


@pytest.mark.parametrize("attempt", ["0", "-1", "one", "", "1.5"])
async def test_an_attempt_that_is_no_number_is_refused(
    world: World, client: DurableClient, attempt: str
) -> None:
    await failed_attempt(world, client)
    with pytest.raises(ContractError, match="retryAttempt"):
        await decide(result(world, retryAttempt=attempt))


async def test_a_result_without_the_property_is_of_the_first_attempt(
    world: World, client: DurableClient
) -> None:
    await failed_attempt(world, client)
    message = result(world)
    message.application_properties = {}
    await decide(message)
    assert [each.message_id for each in events(world)] == ["r1:2"]


async def test_a_result_is_logged_with_what_comes_of_it(
    world: World, client: DurableClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    await failed_attempt(world, client)
    await decide(result(world))
    (line,) = [line for line in caplog.messages if "Extraction retry completed" in line]
    assert json.loads(line.partition("completed ")[2]) == {
        "requestId": "r1",
        "total": 1,
        "successful": 0,
        "failed": 1,
        "outcome": "next attempt",
    }


async def test_the_loop_runs_to_the_maximum_and_ends(world: World, client: DurableClient) -> None:
    await failed_attempt(world, client)
    for attempt in (2, 3):
        await decide(result(world))
        message = events(world)[-1]
        world.now = message.not_before or world.now
        await ask(Message(json.loads(message.body), enqueued_time_utc=world.now), client)
        job = world.jobs()[-1]
        assert (job.attempt, job.status) == (attempt + 1, JobStatus.QUEUED)
        world.reported(job, "JobFailed", ErrorMessage="no text")
        world.send_outbox(job.job_id)
    await decide(result(world))
    assert [each.message_id for each in events(world)] == ["r1:2", "r1:3"]
    assert result(world).document["failedIds"] == [world.file.document_hash]
