"""Whatever is done to an engine, in whatever order and at any time, the model says the same."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import azure.durable_functions as df
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from local.durable.clock import Clock
from local.durable.engine import DurableEngine, DurableOptions
from local.durable.instances import Query, WrongStatus
from local.durable.status import status_document
from tests.contract.durable.library import LibraryFunctions
from tests.contract.durable.model import EVENTS, VISIBILITY_SECONDS, Model
from tests.until import until

OPTIONS = DurableOptions("Modelled", 100, 100, timedelta(seconds=VISIBILITY_SECONDS))
TURNS = 10
"""Turns of the event loop in which everything that was set off has begun."""

Place = st.integers(0, 4)
"""Which of the instances that something can be done to, counted from the first id."""

Seconds = st.sampled_from([1, 30, 59, VISIBILITY_SECONDS])


def collector(context: df.DurableOrchestrationContext) -> Any:
    data = []
    for name in EVENTS:
        datum = yield context.wait_for_external_event(name)
        data.append(datum)
    return [int(datum) for datum in data]


def sleeper(context: df.DurableOrchestrationContext) -> Any:
    seconds = timedelta(seconds=context.get_input())
    yield context.create_timer(context.current_utc_datetime + seconds)
    return "slept"


def worker(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.call_activity("work")
    return result


class Functions(LibraryFunctions):
    """An activity of an instance in `under_way` ends when its future does."""

    def __init__(self) -> None:
        super().__init__([collector, sleeper, worker])
        self.under_way: dict[str, asyncio.Future[None]] = {}

    def has_activity(self, name: str) -> bool:
        return True

    async def run_activity(self, name: str, instance_id: str, input_json: str) -> str:
        end = self.under_way[instance_id] = asyncio.get_running_loop().create_future()
        try:
            await end
        finally:
            if self.under_way.get(instance_id) is end:
                del self.under_way[instance_id]
        return '"worked"'


class HandClock(Clock):
    """Moves when told to; its alarms never ring by themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.now = datetime(2026, 11, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def real_seconds(self, seconds: float) -> float:
        return 1e6


class Machine(RuleBasedStateMachine):
    """Does everything to an engine and to the model, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self._loop = asyncio.new_event_loop()
        self.clock = HandClock()
        self.model = Model()
        self._start_engine()

    def teardown(self) -> None:
        self._run(self.engine.stop())
        self._loop.close()
        self._folder.cleanup()

    def _start_engine(self) -> None:
        self.functions = Functions()
        path = Path(self._folder.name) / "hub.db"
        self.engine = DurableEngine(path, self.functions, OPTIONS, self.clock)
        self._run(self.engine.start())

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def _do(self, call: Callable[..., Any], *arguments: Any, allowed: bool = True) -> None:
        """Make a call on the event loop; one that is not allowed is to raise."""

        async def make() -> None:
            if allowed:
                call(*arguments)
            else:
                with pytest.raises(WrongStatus):
                    call(*arguments)

        self._run(make())

    @rule(id=st.sampled_from("abcde"), kind=st.sampled_from(["collector", "sleeper", "worker"]))
    def start(self, id: str, kind: str) -> None:
        seconds = 60 + len(self.model.instances)
        may = self.model.start(id, kind, seconds)
        self._do(self.engine.instances.start, kind, id, json.dumps(str(seconds)), allowed=may)

    @rule(place=Place, name=st.sampled_from(EVENTS), data=st.integers(0, 99))
    def raise_event(self, place: int, name: str, data: int) -> None:
        if id := self._choose(place, lambda one: not one.ended):
            self._raise_event(id, name, data)

    def _raise_event(self, id: str, name: str, data: int) -> None:
        # Of two early events of one name the library hands out the second twice: one is enough.
        if name not in self.model.instances[id].data:
            self._do(self.engine.instances.raise_event, id, name, json.dumps(str(data)))
            self.model.raise_event(id, name, data)

    @rule(place=Place)
    def finish_activity(self, place: int) -> None:
        if id := self._choose(place, lambda one: one.under_way):
            self._do(self.functions.under_way[id].set_result, None)
            self.model.finish_activity(id)

    @rule(place=Place, reason=st.sampled_from("xyz"))
    def suspend_or_resume(self, place: int, reason: str) -> None:
        if id := self._choose(place, lambda one: not one.ended):
            self._suspend_or_resume(id, reason)

    def _suspend_or_resume(self, id: str, reason: str) -> None:
        does = "resume" if self.model.instances[id].suspended else "suspend"
        self._do(getattr(self.engine.instances, does), id, reason)
        getattr(self.model, does)(id, reason)
        self._settle()

    @rule(place=Place, seconds=Seconds)
    def outlast_a_suspension(self, place: int, seconds: int) -> None:
        # By itself this order of things is too rare.
        if id := self._choose(place, lambda one: not one.ended and not one.suspended):
            self._suspend_or_resume(id, "hold on")
            for number, name in enumerate(EVENTS):
                self._raise_event(id, name, number)
            self.advance(seconds)
            self.is_as_the_model_says()
            self._suspend_or_resume(id, "go on")

    @rule(place=Place, reason=st.sampled_from("xyz"))
    def terminate(self, place: int, reason: str) -> None:
        if id := self._choose(place, lambda one: not one.ended):
            self._do(self.engine.instances.terminate, id, reason)
            self.model.terminate(id, reason)

    @rule(place=Place)
    def purge(self, place: int) -> None:
        if id := self._choose(place, lambda one: True):
            over = not self.model.is_open(id)
            self._do(self.engine.instances.purge, id, allowed=over)
            if over:
                del self.model.instances[id]

    @rule(seconds=Seconds)
    def advance(self, seconds: int) -> None:
        self.clock.now += timedelta(seconds=seconds)
        self._do(self.engine.ring)
        self.model.advance(seconds)

    @rule(killed=st.booleans())
    def restart(self, killed: bool) -> None:
        self._run(_kill(self.engine) if killed else self.engine.stop())
        self._start_engine()
        self.model.restart(killed=killed)

    @invariant()
    def is_as_the_model_says(self) -> None:
        self._settle()
        found = self.engine.instances.list(Query()).instances
        seen = {one.instance_id: status_document(one) for one in found}
        expected = {id: (one.status, one.output) for id, one in self.model.instances.items()}
        assert {id: (d["runtimeStatus"], d["output"]) for id, d in seen.items()} == expected
        workers = [id for id, one in self.model.instances.items() if one.works]
        under_way = [id for id in workers if self.model.instances[id].under_way]
        assert [id for id in workers if id in self.functions.under_way] == under_way

    def _settle(self) -> None:
        """Return when the engine has done all that can be done by now."""

        async def settle() -> None:
            for _ in range(TURNS):
                await asyncio.sleep(0)
            await until(lambda: not self.engine.is_playing)

        self._run(settle())
        self.functions.documents.clear()

    def _choose(self, place: int, fits: Any) -> str | None:
        ids = sorted(id for id, one in self.model.instances.items() if fits(one))
        return ids[place % len(ids)] if ids else None


async def _kill(engine: DurableEngine) -> None:
    """End an engine as the end of its process does: nothing is given back."""
    engine._stopped = True
    for task in engine._tasks:
        task.cancel()
    await asyncio.wait(engine._tasks)
    engine._database.close()


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
