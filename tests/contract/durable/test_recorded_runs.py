"""The recorded orchestrations, run for real: each gets the recorded inputs and ends as recorded."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.contract.durable.hub import Hub, running_hub
from tests.contract.durable.library import LibraryFunctions
from tests.contract.durable.recorded_functions import ACTIVITIES, ORCHESTRATORS
from tests.recordings import blurred, replayed
from tests.until import until

RECORDED: Mapping[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("recorded_runs.json").read_text()
)
CLOCK_RATE = 2
"""The recorded timers take seconds; too fast, and they would overtake events that come before."""
LONGEST_SECONDS = 30.0
ANSWERS = (5, 6)
EVENT_RAISED = 15


class InTurn(LibraryFunctions):
    """Gives the answers of activities back in the recorded order.

    Which of several comes first is chance; here each waits for the orchestrator's call before the
    one that is to see it.
    """

    def __init__(self) -> None:
        super().__init__(ORCHESTRATORS.values(), ACTIVITIES)
        self._asked: Counter[str] = Counter()
        self._called: defaultdict[tuple[str, int], asyncio.Event] = defaultdict(asyncio.Event)
        self._turns = {id: turns(case["calls"]) for id, case in RECORDED.items() if "calls" in case}

    async def run_orchestrator(self, name: str, instance_id: str, document: str) -> str:
        try:
            return await super().run_orchestrator(name, instance_id, document)
        finally:
            self._called[instance_id, len(self.documents_of(instance_id))].set()

    async def run_activity(self, name: str, instance_id: str, input_json: str) -> str:
        place = self._asked[instance_id]
        self._asked[instance_id] += 1
        try:
            return await super().run_activity(name, instance_id, input_json)
        finally:
            recorded = self._turns.get(instance_id, [])
            if place < len(recorded):
                await self._called[instance_id, recorded[place]].wait()


def turns(calls: Sequence[Mapping[str, Any]]) -> list[int]:
    """For each activity, how many calls the orchestrator has had before it gets the answer."""
    return [
        number
        for number, call in enumerate(calls)
        for event in new_events(call)
        if event["EventType"] in ANSWERS
    ]


def new_events(call: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those that came with this call: behind the last start of an episode."""
    kinds = [event["EventType"] for event in call["events"]]
    begin = len(kinds) - 1 - kinds[::-1].index(12)
    return list(call["events"][begin:])


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every orchestration got, and its status at the end; all of them run at once."""
    return asyncio.run(_run_all(tmp_path_factory.mktemp("recorded") / "hub.db"))


@pytest.mark.parametrize("name", replayed("orchestrations", {name: name for name in RECORDED}))
def test_an_orchestration_runs_as_recorded(seen: dict[str, Any], name: str) -> None:
    # Given an orchestration that has been run, then it is called with what was recorded
    recorded = RECORDED[name]
    if "calls" in recorded:
        calls = as_recorded(seen[name]["calls"], recorded)
        assert blurred(calls, recorded["calls"]) == recorded["calls"]

    # And its status and history are what was recorded
    if "status" in recorded:
        assert blurred(seen[name]["status"], recorded["status"]) == recorded["status"]


def as_recorded(documents: list[dict[str, Any]], recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """The documents with as much of each history as the recording has of it."""
    if recorded.get("calls_left_out"):
        lengths = [call["length"] for call in recorded["calls"]]
        documents = [one for one in documents if len(one["history"]) in lengths]
    kept = [len(call["events"]) for call in recorded["calls"]]
    kept += [0] * (len(documents) - len(kept))
    return [
        {
            **{key: document[key] for key in ("input", "isReplaying", "parentInstanceId")},
            "length": len(document["history"]),
            "events": document["history"][-count:] if count else [],
        }
        for document, count in zip(documents, kept, strict=False)
    ]


async def _run_all(database: Path) -> dict[str, Any]:
    functions = InTurn()
    async with running_hub(database, functions, clock_rate=CLOCK_RATE) as hub:
        started = [id for id, case in RECORDED.items() if "status" in case]
        told = [id for id in started if any(events_of(RECORDED[id]))]
        # Those with events come first, with the machine to themselves: their timers run meanwhile.
        for ids in (told, [id for id in started if id not in told]):
            await asyncio.gather(*[_start(hub, functions, id, RECORDED[id]) for id in ids])
        await asyncio.gather(*[_end(hub, id, RECORDED[id]) for id in started])
        return {name: await _look(hub, functions, name) for name in RECORDED}


def events_of(case: dict[str, Any]) -> Iterator[tuple[int, str, Any]]:
    """What was raised from outside: after how many calls, its name and its data."""
    for number, call in enumerate(case.get("calls", [])):
        for event in new_events(call):
            if event["EventType"] == EVENT_RAISED and case["function"] != "o_entity":
                yield number, event["Name"], json.loads(json.loads(event["Input"]))


async def _start(hub: Hub, functions: LibraryFunctions, id: str, case: dict[str, Any]) -> None:
    text = case["status"]["input"] if case["function"] not in ("o_can", "o_can_ev") else None
    await hub.start(case["function"], None if text is None else json.loads(text), id)
    for calls, name, data in events_of(case):
        await until(lambda calls=calls: len(functions.documents_of(id)) >= calls)
        await hub.client.raise_event(id, name, data)


async def _end(hub: Hub, id: str, case: dict[str, Any]) -> None:
    if case["status"]["runtimeStatus"] == "Running":
        await hub.waiting(id, len(case["calls"]))
    else:
        await hub.ended(id, LONGEST_SECONDS)


async def _look(hub: Hub, functions: LibraryFunctions, name: str) -> dict[str, Any]:
    """Calls and status; a child without an id of its own is found by its parent's execution."""
    id = name
    if name.startswith("child of "):
        parent, number = name.removeprefix("child of ").removesuffix(")").split(" (")
        started = functions.documents_of(parent)[0]["history"][1]
        id = f"{started['OrchestrationInstance']['ExecutionId']}:{number}"
    shown = {"showHistory": "true", "showHistoryOutput": "true"}
    with_history = "historyEvents" in RECORDED[name].get("status", {})
    status = await hub.status(id, **(shown if with_history else {}))
    return {"calls": functions.documents_of(id), "status": status}
