"""Orchestrations that are missing, stuck or left over are mended."""

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

import azure.durable_functions as df
import pytest

from shared import wiring
from shared.contracts.incoming import Source
from shared.functions import reconcile
from tests.database import empty_database
from tests.unit.functions.dead_letters import left, put_file
from tests.unit.functions.fakes import DurableClient
from tests.unit.services.world import World

run = reconcile.reconcile._function.get_user_function().client_function
Status = df.OrchestrationRuntimeStatus


@dataclass
class KnowingClient(DurableClient):
    """A durable client that knows the status of instances too."""

    terminated: list[str] = field(default_factory=list)

    async def get_status(self, instance_id: str) -> Any:
        live = instance_id in self.running
        return SimpleNamespace(runtime_status=Status.Running if live else None)

    async def get_status_by(self, runtime_status: list[Any], instance_id_prefix: str) -> list[Any]:
        assert runtime_status == [Status.Running]
        found = [each for each in sorted(self.running) if each.startswith(instance_id_prefix)]
        return [SimpleNamespace(instance_id=each) for each in found[:100]]

    async def terminate(self, instance_id: str, reason: str) -> None:
        self.running.discard(instance_id)
        self.terminated.append(instance_id)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


@pytest.fixture
def client() -> KnowingClient:
    return KnowingClient()


async def test_a_healthy_world_is_left_alone(world: World, client: KnowingClient) -> None:
    job = world.accepted()
    client.running.add(str(job.job_id))
    world.passes(minutes=3)
    await run(None, client)
    assert (client.started, client.raised, client.terminated) == ([], [], [])


async def test_an_active_job_without_an_orchestration_gets_it_back(
    world: World, client: KnowingClient
) -> None:
    job = world.accepted()
    world.passes(minutes=3)
    await run(None, client)
    assert [instance for _, instance, _ in client.started] == [str(job.job_id)]
    assert world.events()[-1][0] == "mended"


async def test_a_job_that_ends_just_now_is_not_started_again(
    world: World, client: KnowingClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.accepted()
    world.passes(minutes=3)

    async def ended_meanwhile(_instance_id: str) -> Any:
        world.reported(job, "JobSucceeded")
        return SimpleNamespace(runtime_status=Status.Completed)

    monkeypatch.setattr(client, "get_status", ended_meanwhile)
    await run(None, client)
    assert client.started == []
    assert "mended" not in [kind for kind, _, _ in world.events()]


async def test_a_young_job_is_given_time(world: World, client: KnowingClient) -> None:
    world.accepted()
    await run(None, client)
    assert client.started == []


async def test_a_stuck_orchestration_is_ended_and_started_again_by_the_next_pass(
    world: World, client: KnowingClient
) -> None:
    job = world.accepted()
    world.calls(job)
    client.running.add(str(job.job_id))
    world.oldest_report = world.now
    world.passes(minutes=26)
    await run(None, client)
    assert client.terminated == [str(job.job_id)]
    await run(None, client)
    assert [instance for _, instance, _ in client.started] == [str(job.job_id)]


async def test_a_live_orchestration_of_an_ended_job_is_woken(
    world: World, client: KnowingClient
) -> None:
    job = world.accepted()
    client.running.add(str(job.job_id))
    world.reported(job, "JobSucceeded")
    await run(None, client)
    assert client.raised == [(str(job.job_id), "Ended", "Succeeded")]


async def test_one_that_did_not_wake_up_is_ended_by_the_next_pass(
    world: World, client: KnowingClient
) -> None:
    job = world.accepted()
    client.running.add(str(job.job_id))
    world.reported(job, "JobSucceeded")
    await run(None, client)
    await run(None, client)
    assert client.terminated == [str(job.job_id)]
    mended = [detail["what"] for kind, _, detail in world.events() if kind == "mended"]
    assert mended == ["orchestration woken", "orchestration terminated"]


async def test_leftovers_among_many_that_run_are_found_too(
    world: World, client: KnowingClient
) -> None:
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    strays = {str(uuid5(NAMESPACE_URL, str(number))) for number in range(150)}
    client.running = {str(job.job_id), *strays}
    await run(None, client)
    assert client.raised == [(str(job.job_id), "Ended", "Succeeded")]
    assert set(client.terminated) == strays


async def test_an_orchestration_of_an_unknown_job_is_ended(
    world: World, client: KnowingClient
) -> None:
    stray = str(uuid4())
    client.running = {stray, "not-one-of-ours"}
    await run(None, client)
    assert client.terminated == [stray]


async def test_a_pass_handles_dead_letters_again_and_counts_them(
    world: World, client: KnowingClient, caplog: pytest.LogCaptureFixture
) -> None:
    put_file(world)
    broken = put_file(world, FileID="none")
    with caplog.at_level(logging.INFO):
        await run(None, client)
    (job,) = world.jobs()
    assert [instance for _, instance, _ in client.started] == [str(job.job_id)]
    assert left(world, Source.ACCEPTED_FILE) == [broken]
    assert '"deadLettersHandled": 1' in caplog.messages[-1]


async def test_a_pass_tells_how_many_jobs_have_not_moved_and_how_many_are_past_their_time(
    world: World, client: KnowingClient, caplog: pytest.LogCaptureFixture
) -> None:
    job = world.accepted()
    world.calls(job)
    client.running.add(str(job.job_id))
    world.oldest_report = world.now
    with caplog.at_level(logging.INFO):
        for minutes in (3, 23):
            world.passes(minutes=minutes)
            await run(None, client)
    first, second = [line for line in caplog.messages if line.startswith("Reconciled ")]
    assert '"jobsQueued": 1, "jobsStarted": 0, "jobsStuck": 0, "oldestMinutes": 3' in first
    assert '"jobsQueued": 1, "jobsStarted": 0, "jobsStuck": 1, "oldestMinutes": 26' in second


async def test_a_pass_over_nothing_tells_no_age(
    world: World, client: KnowingClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        await run(None, client)
    assert caplog.messages[-1] == (
        'Reconciled {"outcome": "nothing to mend",'
        ' "jobsQueued": 0, "jobsStarted": 0, "jobsStuck": 0}'
    )


async def test_every_pass_is_counted_with_what_it_mended(
    world: World, client: KnowingClient
) -> None:
    job = world.accepted()
    world.passes(minutes=3)
    first = world.now
    await run(None, client)
    client.running.clear()
    world.passes(minutes=5)
    await run(None, client)
    assert {each.kind: each.total for each in world.reconcile.counted()} == {
        "orchestrationsStarted": 2,
        "passes": 2,
    }
    world.reported(job, "JobSucceeded")
    client.running.clear()
    world.passes(minutes=5)
    await run(None, client)
    latest = {each.kind: each.last_at - first for each in world.reconcile.counted()}
    assert latest["orchestrationsStarted"] == timedelta(minutes=5)
    assert latest["passes"] == timedelta(minutes=10)
