"""The triggers and activities: they parse, call one use case, and map the answer."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from shared import wiring
from shared.contracts.wire import ContractError
from shared.domain.errors import NotYetError
from shared.domain.jobs import Job, JobStatus
from shared.functions import activities, holding, on_file_accepted, on_job_status
from shared.functions.holding import Patience
from tests.database import empty_database
from tests.unit.functions.fakes import DurableClient, Message
from tests.unit.services.world import LIMITS, TRACE, World

accept = on_file_accepted.on_file_accepted._function.get_user_function().client_function
report = on_job_status.on_job_status._function.get_user_function().client_function
call = activities.call_extractor._function.get_user_function()
expire = activities.expire_job._function.get_user_function()

SHORT = Patience(
    held=timedelta(milliseconds=100),
    not_yet=timedelta(milliseconds=20),
    afterwards=timedelta(milliseconds=100),
    first_pause=timedelta(milliseconds=5),
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    monkeypatch.setattr(holding, "PATIENCE", SHORT)
    return world


@pytest.fixture
def client() -> DurableClient:
    return DurableClient()


def accepted(world: World, **fields: Any) -> Message:
    document = {"FileID": str(world.file.file_id), "Timestamp": "2026-01-01T12:00:00Z"}
    return Message(document | fields, enqueued_time_utc=world.now)


def status(job: Job, type_: str, **data: Any) -> Message:
    stamp = {"JobID": str(job.job_id).upper(), "Timestamp": "2026-01-01T12:00:00Z"}
    return Message({"specversion": "1.0", "type": type_, "data": stamp | data})


async def test_an_accepted_file_is_announced_and_its_orchestration_started(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    assert world.announced() == ["JobQueued"]
    assert client.started == [("extraction", str(job.job_id), {"jobId": str(job.job_id)})]


async def test_the_trace_of_the_message_goes_with_the_job(
    world: World, client: DurableClient
) -> None:
    message = accepted(world)
    message.application_properties = {"Traceparent": TRACE.upper()}
    await accept(message, client)
    assert world.sent[0].properties["traceparent"] == TRACE


async def test_a_repeat_starts_what_is_not_running_and_leaves_what_is(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    await accept(accepted(world), client)
    client.running.clear()
    await accept(accepted(world), client)
    assert len(client.started) == 2
    assert len(world.jobs()) == 1


async def test_a_repeat_for_an_ended_job_starts_nothing(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    world.reported(job, "JobSucceeded")
    client.running.clear()
    await accept(accepted(world), client)
    assert len(client.started) == 1


async def test_a_durable_backend_that_stumbles_is_tried_again(
    world: World, client: DurableClient
) -> None:
    client.failures = 2
    await accept(accepted(world), client)
    assert len(client.started) == 1


async def test_a_durable_backend_that_stays_away_leaves_the_job_to_reconciliation(
    world: World, client: DurableClient
) -> None:
    client.failures = 1_000
    await accept(accepted(world), client)
    assert client.started == []
    world.passes(minutes=3)
    assert [job.active for job in world.reconcile.suspects().jobs] == [True]


async def test_a_message_that_comes_again_starts_what_could_not_be_started(
    world: World, client: DurableClient
) -> None:
    client.failures = 1_000
    await accept(accepted(world), client)
    client.failures = 0
    await accept(accepted(world), client)
    assert len(world.jobs()) == len(client.started) == 1
    assert world.announced() == ["JobQueued"]


async def test_a_broken_message_is_refused(world: World, client: DurableClient) -> None:
    with pytest.raises(ContractError, match="FileID"):
        await accept(accepted(world, FileID="no guid"), client)
    assert world.jobs() == []


async def test_a_version_that_we_do_not_know_is_refused(
    world: World, client: DurableClient
) -> None:
    message = accepted(world)
    message.application_properties = {"schemaVersion": "2.0"}
    with pytest.raises(ContractError, match="schemaVersion"):
        await accept(message, client)


async def test_a_file_whose_row_does_not_come_goes_back_to_the_queue(
    world: World, client: DurableClient
) -> None:
    with pytest.raises(NotYetError):
        await accept(accepted(world, FileID=str(uuid4())), client)


async def test_a_part_that_comes_back_while_the_message_is_held_costs_no_delivery(
    world: World, client: DurableClient
) -> None:
    world.down.add("registration")
    tries = []

    def comes_back() -> None:
        tries.append(1)
        if len(tries) > 4:
            world.down.clear()

    world.steps.step = comes_back  # type: ignore[method-assign]
    await accept(accepted(world), client)
    assert len(world.jobs()) == 1


async def test_a_start_wakes_the_orchestration_with_the_runs_deadline(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    await report(status(job, "JobStarted"), client)
    due = (world.now + LIMITS.run).isoformat()
    assert client.raised == [(str(job.job_id), "Started", due)]


@pytest.mark.parametrize("end", [JobStatus.SUCCEEDED, JobStatus.FAILED])
async def test_an_end_wakes_the_orchestration_with_its_name(
    world: World, client: DurableClient, end: JobStatus
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    await report(status(job, f"Job{end}"), client)
    assert client.raised == [(str(job.job_id), "Ended", end.value)]


async def test_a_status_is_logged_with_its_job_and_the_time_since_the_job_was_made(
    world: World, client: DurableClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    await accept(accepted(world), client)
    (job,) = world.jobs()
    world.passes(seconds=90)
    await report(status(job, "JobSucceeded"), client)
    (line,) = [line for line in caplog.messages if line.startswith("Job status received ")]
    assert json.loads(line.removeprefix("Job status received ")) == {
        "jobId": str(job.job_id),
        "fileId": str(job.file_id),
        "extractorId": job.extractor_id,
        "attempt": 1,
        "outcome": "Succeeded",
        "durationMs": 90_000,
    }


async def test_a_repeat_raises_again_so_that_a_lost_event_heals(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    for _ in range(2):
        await report(status(job, "JobSucceeded"), client)
    await report(status(job, "JobStarted"), client)
    assert [name for _, name, _ in client.raised] == ["Ended"] * 3


async def test_a_failure_sends_the_retry_that_it_asked_for(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    await report(status(job, "JobFailed", ErrorMessage="no text"), client)
    assert world.announced() == ["JobQueued", "ExtractionRetryEvent"]
    await report(status(job, "JobFailed", ErrorMessage="no text"), client)
    assert world.announced() == ["JobQueued", "ExtractionRetryEvent"]


async def test_what_an_end_has_to_send_waits_for_the_broker(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    world.down.add("service bus")
    await report(status(job, "JobFailed"), client)
    assert world.announced() == ["JobQueued"]
    world.down.clear()
    await report(status(job, "JobFailed"), client)
    assert world.announced() == ["JobQueued", "ExtractionRetryEvent"]


@pytest.mark.parametrize("gone", ["finished", "unknown"])
async def test_an_orchestration_that_is_gone_needs_no_event(
    world: World, client: DurableClient, gone: str
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    client.running.clear()
    client.finished = {str(job.job_id)} if gone == "finished" else set()
    await report(status(job, "JobSucceeded"), client)
    assert world.row(job).status is JobStatus.SUCCEEDED


async def test_our_own_job_queued_is_finished_without_a_look(
    world: World, client: DurableClient
) -> None:
    await accept(accepted(world), client)
    (job,) = world.jobs()
    events = world.events()
    message = status(job, "JobQueued", FileID=str(job.file_id), ExtractorID=101)
    await report(message, client)
    assert (world.events(), client.raised) == (events, [])


async def test_a_status_of_a_job_that_does_not_come_goes_back_to_the_queue(
    world: World, client: DurableClient
) -> None:
    unknown = Job(uuid4(), uuid4(), 1, JobStatus.QUEUED, world.now, world.now)
    with pytest.raises(NotYetError):
        await report(status(unknown, "JobStarted"), client)


def test_the_activities_answer_in_plain_json(world: World) -> None:
    job = world.accepted()
    answer = call({"jobId": str(job.job_id)})
    due = (world.now + LIMITS.start).isoformat()
    assert answer == {"kind": "taken", "until": due, "status": "Queued"}
    assert expire({"jobId": str(job.job_id)}) == answer
