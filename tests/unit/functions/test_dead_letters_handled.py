"""Dead letters are handled again in place, or discarded, and that is written down."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from shared import wiring
from shared.contracts.incoming import Source
from shared.domain.jobs import Job, JobStatus
from shared.functions import dead_letters, holding
from shared.functions.handling import handle_here
from tests.database import add_file, empty_database
from tests.unit.functions.dead_letters import (
    FILES,
    RESULTS,
    RETRIES,
    SHORT,
    STATUSES,
    call,
    discarded,
    ended,
    events,
    left,
    put,
    put_file,
    put_sent,
    put_status,
    resubmitted,
)
from tests.unit.functions.fakes import DurableClient
from tests.unit.services.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    monkeypatch.setattr(holding, "PATIENCE", SHORT)
    return world


@pytest.fixture
def client() -> DurableClient:
    return DurableClient()


# Handling again


async def test_a_dry_run_is_the_default_and_changes_nothing(
    world: World, client: DurableClient
) -> None:
    good, bad = put_file(world), put_file(world, FileID=5)
    assert await resubmitted(client, FILES, sequenceNumbers=[bad, good, 999]) == [
        (bad, "wouldBeKept", "contract_broken"),
        (good, "wouldBeHandled", "valid"),
        (999, "notFound", "not_found"),
    ]
    assert left(world) == [good, bad]
    assert world.jobs() == []
    assert events(world) == []


async def test_a_file_is_handled_as_its_trigger_does_and_leaves_the_queue(
    world: World, client: DurableClient
) -> None:
    number = put_file(world)
    other = put_file(world)
    results = await resubmitted(client, FILES, sequenceNumbers=[number, number], dryRun=False)
    assert results == [(number, "handled", "handled")]
    (job,) = world.jobs()
    assert world.announced() == ["JobQueued"]
    assert [instance for _, instance, _ in client.started] == [str(job.job_id)]
    assert left(world) == [other]


async def test_what_was_done_is_in_the_timeline_of_the_file_and_in_the_log(
    world: World, client: DurableClient, caplog: pytest.LogCaptureFixture
) -> None:
    number = put_file(world)
    with caplog.at_level(logging.INFO):
        await resubmitted(client, FILES, sequenceNumbers=[number], dryRun=False)
    [event] = events(world)
    assert (event.source, event.actor) == ("operator", "operator@example.com")
    assert event.detail == {
        "outcome": "handled",
        "code": "handled",
        "subscription": FILES,
        "sequenceNumber": number,
        "messageId": f"m{number}",
    }
    [line] = [text for text in caplog.messages if text.startswith("Dead letter handled")]
    assert "operator@example.com" in line
    assert str(world.file.file_id) in line


async def test_a_file_that_has_succeeded_since_is_not_extracted_again(
    world: World, client: DurableClient
) -> None:
    number = put_file(world)
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    results = await resubmitted(client, FILES, sequenceNumbers=[number], dryRun=False)
    assert results == [(number, "handled", "handled")]
    assert [each.job_id for each in world.jobs()] == [job.job_id]
    assert client.started == []
    assert left(world) == []


async def test_what_cannot_be_handled_stays_and_says_why(
    world: World, client: DurableClient
) -> None:
    broken, unknown = put_file(world, Timestamp="soon"), put_file(world, FileID=str(uuid4()))
    good = put_file(world)
    assert await resubmitted(client, FILES, all=True, dryRun=False) == [
        (broken, "kept", "contract_broken"),
        (unknown, "kept", "file_unknown"),
        (good, "handled", "handled"),
    ]
    assert left(world) == [broken, unknown]
    assert world.dead[Source.ACCEPTED_FILE].locked == set()


async def test_a_status_wakes_its_orchestration(world: World, client: DurableClient) -> None:
    job = world.accepted()
    client.running.add(str(job.job_id))
    number = put_status(world, job.job_id, "JobSucceeded")
    await resubmitted(client, STATUSES, sequenceNumbers=[number], dryRun=False)
    assert client.raised == [(str(job.job_id), "Ended", "Succeeded")]
    assert world.row(job).status is JobStatus.SUCCEEDED
    assert events(world)[-1].job_id == job.job_id


async def test_a_retry_event_makes_its_job(world: World, client: DurableClient) -> None:
    number = put(
        world, Source.EXTRACTION_RETRY, {"requestId": "r9", "fileIds": [world.file.document_hash]}
    )
    await resubmitted(client, RETRIES, sequenceNumbers=[number], dryRun=False)
    (job,) = world.jobs()
    assert [instance for _, instance, _ in client.started] == [str(job.job_id)]
    assert events(world)[-1].request_id == "r9"


async def test_a_result_asks_for_the_next_attempt(world: World, client: DurableClient) -> None:
    ended(world)
    number = put_sent(world, Source.EXTRACTION_RESULT, world.last("ExtractionRetryResult"))
    await resubmitted(client, RESULTS, sequenceNumbers=[number], dryRun=False)
    event = world.last("ExtractionRetryEvent")
    assert event
    assert event.message_id == "r1:2"


async def test_all_are_the_oldest_hundred(world: World, client: DurableClient) -> None:
    numbers = [put_file(world) for _ in range(103)]
    results = await resubmitted(client, FILES, all=True, dryRun=False)
    assert [number for number, _, _ in results] == numbers[:100]
    assert left(world) == numbers[100:]


async def test_all_of_none_is_no_message(world: World, client: DurableClient) -> None:
    assert await resubmitted(client, FILES, all=True, dryRun=False) == []


async def test_a_part_out_of_reach_ends_the_batch_and_keeps_the_rest(
    world: World, client: DurableClient
) -> None:
    numbers = [put_file(world) for _ in range(3)]
    tries: list[str] = []
    world.down.add("registration")
    real = world.extractors_of

    def counted(client_application_id: str) -> Any:
        tries.append(client_application_id)
        return real(client_application_id)

    world.extractors_of = counted  # type: ignore[method-assign]
    results = await resubmitted(client, FILES, all=True, dryRun=False)
    assert results == [(number, "kept", "out_of_reach") for number in numbers]
    assert len(tries) == 1
    assert left(world) == numbers


async def test_a_durable_backend_that_stays_away_is_left_to_reconciliation(
    world: World, client: DurableClient
) -> None:
    number = put_file(world)
    client.failures = 1_000
    results = await resubmitted(client, FILES, sequenceNumbers=[number], dryRun=False)
    assert results == [(number, "handled", "handled")]
    assert (len(world.jobs()), client.started) == (1, [])


async def test_what_fails_inside_the_service_stays_and_does_not_stop_the_others(
    world: World, client: DurableClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = [put_file(world) for _ in range(2)]
    real = world.accept.__call__
    failures = [ZeroDivisionError("inside")]

    def fails_once(self: object, *args: Any) -> Job:
        if failures:
            raise failures.pop()
        return real(*args)

    monkeypatch.setattr(type(world.accept), "__call__", fails_once)
    assert await resubmitted(client, FILES, all=True, dryRun=False) == [
        (numbers[0], "kept", "failed"),
        (numbers[1], "handled", "handled"),
    ]
    assert left(world) == numbers[:1]


async def test_a_lock_lost_amid_the_work_keeps_the_message_and_repeating_changes_nothing(
    world: World, client: DurableClient
) -> None:
    number = put_file(world)
    queue = world.dead[Source.ACCEPTED_FILE]
    queue.lock_is_lost = True
    results = await resubmitted(client, FILES, sequenceNumbers=[number], dryRun=False)
    assert results == [(number, "kept", "out_of_reach")]
    queue.lock_is_lost = False
    await resubmitted(client, FILES, sequenceNumbers=[number], dryRun=False)
    assert (len(world.jobs()), left(world)) == (1, [])


async def test_what_someone_else_handles_is_left_to_them(
    world: World, client: DurableClient
) -> None:
    number = put_file(world)
    with world.dead[Source.ACCEPTED_FILE].take([number]):
        results = await resubmitted(client, FILES, sequenceNumbers=[number], dryRun=False)
    assert results == [(number, "notFound", "not_found")]


async def test_a_batch_ends_when_its_time_is_over(world: World, client: DurableClient) -> None:
    first, second = put_file(world), put_file(world)
    real = client.start_new

    async def slow(*args: Any) -> str:
        world.passes(minutes=2)
        return await real(*args)

    client.start_new = slow  # type: ignore[method-assign]
    assert await resubmitted(client, FILES, all=True, dryRun=False) == [
        (first, "handled", "handled"),
        (second, "kept", "not_tried"),
    ]


# Discarding


def test_a_discarded_message_is_gone_and_written_down_with_its_reason(world: World) -> None:
    number = put_file(world)
    other = put_file(world)
    assert discarded(FILES, number, 999, reason="withdrawn") == [
        (number, "discarded"),
        (999, "notFound"),
    ]
    assert left(world) == [other]
    [event] = events(world)
    assert (event.actor, event.detail["reason"]) == ("operator@example.com", "withdrawn")


def test_a_broken_message_is_discarded_with_a_line_in_the_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    number = put(world, Source.JOB_STATUS, "{")
    with caplog.at_level(logging.INFO):
        assert discarded(STATUSES, number) == [(number, "discarded")]
    [line] = [text for text in caplog.messages if text.startswith("Dead letter discarded")]
    assert '"reason": "of no use"' in line


def test_what_cannot_be_written_down_is_not_discarded(world: World) -> None:
    number = put_file(world)
    job = world.accepted()
    world.reported(job, "JobStarted")
    body = {"sequenceNumbers": [number], "reason": "x"}
    taken: list[int] = []

    def goes_away() -> None:
        taken.append(1)
        if len(taken) == 3:  # the queue, the explanation, the event
            world.down.add("database")

    world.steps.step = goes_away  # type: ignore[method-assign]
    status, _ = call(dead_letters.discard_dead_letters, body, subscription=FILES)
    assert status == 503
    assert left(world) == [number]


# Reconciliation


@pytest.fixture
def mend(world: World, client: DurableClient) -> Callable[[], Any]:
    async def run() -> Any:
        return await asyncio.to_thread(world.dead_letters.mend, handle_here(client))

    return run


async def test_reconciliation_handles_young_valid_ones_and_leaves_the_others(
    world: World, client: DurableClient, mend: Callable[[], Any]
) -> None:
    old = put_file(world)
    world.passes(days=1, seconds=1)
    world.file = add_file(world.sql, document_hash="hash-2")
    broken, unknown = put_file(world, FileID=1), put_file(world, FileID=str(uuid4()))
    put_file(world)
    assert await mend() == {"deadLettersHandled": 1}
    assert left(world) == [old, broken, unknown]
    assert len(world.jobs()) == len(client.started) == 1
    [event] = events(world)
    assert (event.source, event.actor) == ("reconciliation", None)


async def test_reconciliation_handles_a_hundred_in_one_pass(
    world: World, mend: Callable[[], Any]
) -> None:
    job: Job = world.accepted()
    for _ in range(60):
        put_file(world)
        put_status(world, job.job_id, "JobStarted")
    assert (await mend())["deadLettersHandled"] == 100
    assert (await mend())["deadLettersHandled"] == 20


async def test_reconciliation_waits_for_parts_that_are_away(
    world: World, mend: Callable[[], Any]
) -> None:
    number = put_file(world)
    world.down.add("service bus")
    assert (await mend())["partsOutOfReach"] == 4
    world.down = {"database"}
    assert not (await mend())["deadLettersHandled"]
    world.down = {"registration"}
    assert not (await mend())["deadLettersHandled"]
    assert left(world) == [number]
    assert events(world) == []
    world.down = set()
    assert (await mend())["deadLettersHandled"] == 1
