"""An engine that is stopped with calls in hand, and one whose store fails."""

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import azure.durable_functions as df
import pytest

from local.durable.episodes import Episodes
from tests.contract.durable.conftest import MakeHub
from tests.contract.durable.hub import running_hub
from tests.contract.durable.library import LibraryFunctions
from tests.until import until


def calls_slow(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.call_activity("slow", 1)
    return result


async def test_stopping_does_not_wait_for_calls_that_go_on(tmp_path: Path) -> None:
    # Given an activity that does not end when it is cancelled
    may_end, ended = asyncio.Event(), []

    async def slow(value: Any) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await may_end.wait()
        ended.append(value)
        return "late"

    functions = LibraryFunctions([calls_slow], [slow])
    async with running_hub(tmp_path / "hub.db", functions) as hub:
        await hub.start("calls_slow", id="it")
        await until(lambda: functions.activity_calls)

        # When the engine is stopped, it is so within a second
        told = time.monotonic()
        await hub.engine.stop()
        assert time.monotonic() - told < 1

    # And the late answer is dropped, while the next engine runs the activity again
    async def quick(value: Any) -> str:
        return "again"

    quick.__name__ = "slow"
    async with running_hub(tmp_path / "hub.db", LibraryFunctions([calls_slow], [quick])) as hub:
        may_end.set()
        await until(lambda: ended)
        assert (await hub.ended("it", 2))["output"] == "again"


class GatedFunctions(LibraryFunctions):
    """Orchestrator calls wait until the gate is open."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.gate = asyncio.Event()
        self.waiting = 0

    async def run_orchestrator(self, name: str, instance_id: str, document: str) -> str:
        self.waiting += 1
        await self.gate.wait()
        return await super().run_orchestrator(name, instance_id, document)


def plain(context: df.DurableOrchestrationContext) -> Any:
    return "done"


async def test_an_orchestrator_call_in_hand_is_made_again_at_the_next_start(tmp_path: Path) -> None:
    # Given an engine that is stopped while an orchestrator runs
    functions = GatedFunctions([plain])
    async with running_hub(tmp_path / "hub.db", functions) as hub:
        await hub.start("plain", id="it")
        await until(lambda: functions.waiting)

    # Then the next one calls it again, at once
    async with running_hub(tmp_path / "hub.db", LibraryFunctions([plain])) as hub:
        assert (await hub.ended("it", 1))["output"] == "done"


async def test_an_engine_that_was_replaced_changes_nothing(tmp_path: Path) -> None:
    # Given an engine with an orchestrator call in hand, and another one that took over its store
    functions = GatedFunctions([plain])
    async with running_hub(tmp_path / "hub.db", functions) as old:
        await old.start("plain", id="it")
        await until(lambda: functions.waiting)
        async with running_hub(tmp_path / "hub.db", LibraryFunctions([plain])) as hub:
            await hub.ended("it")
            before = await hub.history("it")

            # When the call returns to the one that was replaced
            functions.gate.set()
            await until(lambda: functions.documents)

            # Then the instance is as the other left it
            assert await hub.history("it") == before


async def test_an_episode_that_cannot_be_stored_is_played_again(
    make_hub: MakeHub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Given a store that fails once
    store, failures = Episodes.finish, iter([sqlite3.OperationalError("disk I/O error")])

    def fails_once(self: Episodes, *args: Any) -> Any:
        for failure in failures:
            raise failure
        return store(self, *args)

    monkeypatch.setattr(Episodes, "finish", fails_once)
    hub = await make_hub(plain)

    # Then the instance ends all the same, and the log tells of the failure
    assert (await hub.run("plain", id="it"))["output"] == "done"
    assert "An episode of instance it could not be stored" in caplog.text


async def test_stopping_twice_is_like_once(make_hub: MakeHub) -> None:
    hub = await make_hub(plain)
    await hub.engine.stop()
    await hub.engine.stop()
