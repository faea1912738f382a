"""Stop between any two steps of a retry, then deliver again: one job per file, one result."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shared import wiring
from shared.domain.jobs import Job, JobStatus
from shared.domain.retries import FileOutcome, RetryRequest
from shared.functions import on_extraction_result, on_extraction_retry, on_job_status
from tests.database import add_file
from tests.unit.functions.fakes import DurableClient, Message
from tests.unit.services.crashing import crash_at_every_step
from tests.unit.services.world import REFUSED, World

ask = on_extraction_retry.on_extraction_retry._function.get_user_function().client_function
decide = on_extraction_result.on_extraction_result._function.get_user_function()
report = on_job_status.on_job_status._function.get_user_function().client_function

OTHER = "hash-2"


class DyingClient(DurableClient):
    """A durable client whose every call is a step before which, or after which, we may die."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def start_new(self, name: str, instance_id: str, client_input: Any) -> str:
        self._world.steps.step()
        started = await super().start_new(name, instance_id, client_input)
        self._world.steps.step()
        return started

    async def raise_event(self, instance_id: str, name: str, data: Any) -> None:
        self._world.steps.step()
        await super().raise_event(instance_id, name, data)
        self._world.steps.step()


@dataclass
class Host:
    """Runs triggers in a world; the orchestrations that they started live on when it dies."""

    monkeypatch: pytest.MonkeyPatch
    clients: dict[int, DyingClient] = field(default_factory=dict)

    def run(
        self, world: World, trigger: Callable[[DyingClient], Coroutine[Any, Any, None]]
    ) -> None:
        self.monkeypatch.setattr(wiring, "_app", world.as_app)
        client = self.clients.setdefault(id(world), DyingClient(world))
        asyncio.run(trigger(client))

    def started(self, world: World) -> list[str]:
        """The instance ids, sorted."""
        return sorted(instance_id for _, instance_id, _ in self.clients[id(world)].started)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(monkeypatch)


def failed(world: World) -> None:
    """Two files; the first extraction of one was refused."""
    add_file(world.sql, document_hash=OTHER)
    world.answers = [REFUSED]
    world.calls(world.accepted())
    world.passes(minutes=1)
    world.sent.clear()


def event(world: World, *refs: str) -> Message:
    document = {"requestId": "r1", "fileIds": list(refs or [world.file.document_hash, OTHER])}
    return Message(document)


def status(job: Job, type_: str) -> Message:
    data = {"JobID": str(job.job_id), "Timestamp": "2026-01-01T12:00:00Z"}
    return Message({"specversion": "1.0", "type": type_, "data": data})


def request(world: World) -> RetryRequest:
    found = world.sql.run(lambda tx: tx.retries.get("r1", 1))
    assert found
    return found


def jobs(world: World) -> list[Job]:
    """The jobs that the request made."""
    files = world.sql.run(lambda tx: tx.retries.files("r1", 1))
    rows = [world.sql.run(lambda tx, each=each: tx.jobs.get(each.job_id)) for each in files]
    return [row for row in rows if row]


def ids(world: World, subject: str) -> set[str]:
    return {each.message_id for each in world.sent if each.subject == subject}


def asked(world: World) -> None:
    failed(world)
    world.retried(world.file.document_hash, OTHER)


def test_handling_a_retry_event(tmp_path: Path, host: Host) -> None:
    worlds = crash_at_every_step(
        tmp_path, failed, lambda world: host.run(world, lambda client: ask(event(world), client))
    )
    assert len(worlds) >= 20
    for world in worlds:
        made = jobs(world)
        assert len({job.job_id for job in made}) == len(made) == 2
        assert [job.status for job in made] == [JobStatus.QUEUED] * 2
        assert len(world.jobs()) == 2, "the refused one, and one more"
        assert request(world).pending == 2
        assert ids(world, "JobQueued") == {f"{job.job_id}:Queued" for job in made}
        assert ids(world, "ExtractionRetryResult") == set()
        assert host.started(world) == sorted(str(job.job_id) for job in made)


def test_handling_an_event_that_is_over_at_once(tmp_path: Path, host: Host) -> None:
    worlds = crash_at_every_step(
        tmp_path,
        failed,
        lambda world: host.run(world, lambda client: ask(event(world, "unknown"), client)),
    )
    assert len(worlds) >= 10
    for world in worlds:
        assert ids(world, "ExtractionRetryResult") == {"r1:1"}
        assert request(world).pending == 0
        assert request(world).closed_at is not None


@pytest.mark.parametrize("end", ["JobSucceeded", "JobFailed"])
def test_ending_the_jobs_of_an_attempt(tmp_path: Path, host: Host, end: str) -> None:
    def both_end(world: World) -> None:
        for job in jobs(world):
            host.run(world, lambda client, job=job: report(status(job, end), client))

    worlds = crash_at_every_step(tmp_path, asked, both_end)
    assert len(worlds) >= 10
    for world in worlds:
        assert request(world).pending == 0
        assert request(world).closed_at is not None
        assert ids(world, "ExtractionRetryResult") == {"r1:1"}
        files = world.sql.run(lambda tx: tx.retries.files("r1", 1))
        ended = FileOutcome.SUCCEEDED if end == "JobSucceeded" else FileOutcome.FAILED
        assert [file.outcome for file in files] == [ended] * 2
        assert ids(world, "ExtractionRetryEvent") == set(), "nobody but the stage mapper asks"


def test_handling_a_result(tmp_path: Path, host: Host) -> None:
    def over(world: World) -> None:
        asked(world)
        for job in jobs(world):
            world.reported(job, "JobFailed", ErrorMessage="no text")
            world.send_outbox(job.job_id)

    def handle(world: World) -> None:
        message = world.last("ExtractionRetryResult")
        assert message
        given = Message(json.loads(message.body), application_properties=message.properties)
        host.run(world, lambda client: decide(given))

    worlds = crash_at_every_step(tmp_path, over, handle)
    assert len(worlds) >= 8
    for world in worlds:
        sent = [each for each in world.sent if each.subject == "ExtractionRetryEvent"]
        assert {each.message_id for each in sent} == {"r1:2"}
        assert {each.not_before for each in sent} == {request(world).next_attempt_at}
        assert len({each.body for each in sent}) == 1


def test_the_first_failure_of_a_file(tmp_path: Path, host: Host) -> None:
    def fail(world: World) -> None:
        (job,) = world.jobs()
        host.run(world, lambda client: report(status(job, "JobFailed"), client))

    worlds = crash_at_every_step(tmp_path, lambda world: world.accepted(), fail)
    assert len(worlds) >= 8
    for world in worlds:
        assert len(ids(world, "ExtractionRetryEvent")) == 1
