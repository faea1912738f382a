"""Hosts that are stopped or killed in the middle, and started again on the same store."""

import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.contract.durable.host_process import STEPS
from tests.contract.durable.hub import KEY

VISIBILITY_SECONDS = 1.5
FINAL = ("Completed", "Failed", "Terminated")


class HostProcess:
    """A running host process and a session for its web hooks."""

    def __init__(self, process: asyncio.subprocess.Process, http: aiohttp.ClientSession) -> None:
        self._process = process
        self._http = http

    async def end(self, with_signal: signal.Signals) -> None:
        """Send the signal and wait for the end."""
        if self._process.returncode is None:
            self._process.send_signal(with_signal)
        await self._process.wait()
        await self._http.close()

    async def start(self, name: str, id: str) -> None:
        async with self._http.post(f"orchestrators/{name}/{id}", json={}) as answer:
            assert answer.status == 202

    async def raise_event(self, id: str) -> None:
        async with self._http.post(f"instances/{id}/raiseEvent/Go", json={"n": 1}) as answer:
            assert answer.status == 202

    async def status(self, id: str) -> dict[str, Any]:
        flags = {"showHistory": "true", "showHistoryOutput": "true"}
        async with self._http.get(f"instances/{id}", params=flags) as answer:
            document: dict[str, Any] = await answer.json()
            return document

    async def ended(self, id: str, seconds: float = 10) -> dict[str, Any]:
        """The status document once the instance is over."""
        return await self.until(id, lambda one: one["runtimeStatus"] in FINAL, seconds)

    async def until(
        self, id: str, condition: Callable[[dict[str, Any]], object], seconds: float = 10
    ) -> dict[str, Any]:
        """The status document once it fulfils the condition."""
        async with asyncio.timeout(seconds):
            while True:
                status = await self.status(id)
                if condition(status):
                    return status
                await asyncio.sleep(0.02)


type StartHost = Callable[[], Awaitable[HostProcess]]


@pytest.fixture
async def start_host(tmp_path: Path) -> AsyncIterator[StartHost]:
    """Starts a host process on the test's store; what is left of it at the end is killed."""
    async with AsyncExitStack() as stack:

        async def start() -> HostProcess:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.contract.durable.host_process"),
                *(str(tmp_path), str(VISIBILITY_SECONDS)),
                stdout=asyncio.subprocess.PIPE,
            )
            assert process.stdout
            port = int(await process.stdout.readline())
            url = f"http://127.0.0.1:{port}/runtime/webhooks/durabletask/"
            http = aiohttp.ClientSession(base_url=url, headers={"x-functions-key": KEY})
            host = HostProcess(process, http)
            stack.push_async_callback(host.end, signal.SIGKILL)
            return host

        yield start


def calls(folder: Path) -> Counter[str]:
    """How often each activity was called."""
    return Counter((folder / "calls.txt").read_text().split("\n")[:-1])


def completed_steps(status: dict[str, Any]) -> int:
    return sum(event["EventType"] == "TaskCompleted" for event in status["historyEvents"])


async def test_waits_and_timers_go_on_at_once_after_a_kill(start_host: StartHost) -> None:
    # Given instances that wait for an event and for a timer
    host = await start_host()
    await host.start("wait_for_go", "event")
    await host.start("sleep", "timer")
    for id in ("event", "timer"):
        await host.until(id, lambda one: one["runtimeStatus"] == "Running")

    # When the host is killed and started again
    await host.end(signal.SIGKILL)
    host = await start_host()

    # Then both end soon
    await host.raise_event("event")
    assert (await host.ended("event", 2))["output"] == {"n": 1}
    assert (await host.ended("timer", 3))["output"] == "slept"


async def test_a_timer_that_came_due_meanwhile_fires_at_the_start(start_host: StartHost) -> None:
    # Given a killed host with a timer
    host = await start_host()
    await host.start("sleep", "timer")
    await host.until("timer", lambda one: one["runtimeStatus"] == "Running")
    await host.end(signal.SIGKILL)

    # When its time passes while no host is there
    await asyncio.sleep(1.1)
    host = await start_host()

    # Then it fires as soon as there is one
    assert (await host.ended("timer", 1))["output"] == "slept"


async def test_an_activity_of_a_killed_host_waits_for_its_visibility(
    start_host: StartHost, tmp_path: Path
) -> None:
    # Given an activity that is under way
    host = await start_host()
    await host.start("rest", "it")
    await host.until("it", lambda one: (tmp_path / "calls.txt").exists())

    # When its host is killed and another started
    await host.end(signal.SIGKILL)
    killed = time.monotonic()
    host = await start_host()

    # Then it runs again once its lease has run out, and not before
    assert (await host.ended("it"))["output"] == "rested"
    assert time.monotonic() - killed > VISIBILITY_SECONDS / 3
    assert calls(tmp_path) == {"it": 2}


async def test_an_activity_of_a_stopped_host_runs_again_at_once(
    start_host: StartHost, tmp_path: Path
) -> None:
    # Given an activity that is under way
    host = await start_host()
    await host.start("rest", "it")
    await host.until("it", lambda one: (tmp_path / "calls.txt").exists())

    # When its host is told to stop
    await host.end(signal.SIGINT)

    # Then the next one runs it at once
    host = await start_host()
    assert (await host.ended("it", VISIBILITY_SECONDS / 2))["output"] == "rested"


@pytest.mark.parametrize("steps_before_the_kill", [1, 3, 5])
async def test_completed_steps_are_not_repeated_after_a_kill(
    start_host: StartHost, tmp_path: Path, steps_before_the_kill: int
) -> None:
    # Given chains of steps of which one has got that far
    host = await start_host()
    ids = [f"chain-{number}" for number in range(5)]
    for id in ids:
        await host.start("chain", id)
    await host.until(ids[0], lambda one: completed_steps(one) >= steps_before_the_kill)
    done = {id: completed_steps(await host.status(id)) for id in ids}

    # When the host is killed and started again
    await host.end(signal.SIGKILL)
    host = await start_host()
    ends = [await host.ended(id) for id in ids]

    # Then every chain ends with all its results
    assert [end["output"] for end in ends] == [list(range(STEPS))] * len(ids)

    # And what was completed has run once, while a step in flight may have run twice
    called = calls(tmp_path)
    for id in ids:
        for step in range(STEPS):
            assert called[f"{id} {step}"] in ((1,) if step < done[id] else (1, 2))
