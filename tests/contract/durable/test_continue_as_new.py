"""Continue-as-new: a fresh history under the same id, and events that aren't lost on the way."""

import asyncio
from typing import Any

import azure.durable_functions as df
import pytest

from tests.contract.durable.conftest import MakeHub

pytestmark = pytest.mark.filterwarnings("ignore:Potential duplicate Task completion")


def echo(value: Any) -> Any:
    return value


def counts(context: df.DurableOrchestrationContext) -> Any:
    """Three rounds, an activity each."""
    number = context.get_input() or 0
    yield context.call_activity("echo", number)
    if number < 2:
        context.continue_as_new(number + 1)
        return "ignored"
    return ["end", number]


def collects(context: df.DurableOrchestrationContext) -> Any:
    """One event a round."""
    seen = context.get_input() or []
    event = yield context.wait_for_external_event("Go")
    seen = [*seen, event]
    if len(seen) < 3:
        context.continue_as_new(seen)
        return None
    return seen


async def test_each_round_has_a_history_and_an_execution_of_its_own(make_hub: MakeHub) -> None:
    # Given an orchestration of three rounds
    hub = await make_hub(counts, activities=[echo])

    # When it runs
    end = await hub.run("counts", id="eternal")

    # Then the id stays, the status shows the newest input, and only the last history is kept
    assert end["output"] == ["end", 2]
    assert end["input"] == "2"
    assert [event["EventType"] for event in await hub.history("eternal")] == [
        "ExecutionStarted",
        "TaskCompleted",
        "ExecutionCompleted",
    ]

    # And each round began with a new execution id and a history of three events
    firsts = [one for one in hub.functions.documents_of("eternal") if not one["isReplaying"]]
    assert [one["input"] for one in firsts] == [None, "1", "2"]
    shapes = [[event["EventType"] for event in one["history"]] for one in firsts]
    assert shapes == [[12, 0], [12, 0, 13], [12, 0, 13]]
    ids = [one["history"][1]["OrchestrationInstance"]["ExecutionId"] for one in firsts]
    assert len(set(ids)) == 3


async def test_events_of_one_moment_are_carried_to_the_next_rounds(make_hub: MakeHub) -> None:
    # Given an orchestration that takes one event a round
    hub = await make_hub(collects)
    hub.engine.instances.start("collects", "quick", None)

    # When three come before its first call
    for text in ("a", "b", "c"):
        hub.engine.instances.raise_event("quick", "Go", f'"{text}"')

    # Then each round gets one
    assert (await hub.ended("quick"))["output"] == ["a", "b", "c"]


async def test_an_event_that_nothing_waited_for_is_carried_over(make_hub: MakeHub) -> None:
    # Given an orchestration whose first round doesn't wait for Later
    def later(context: df.DurableOrchestrationContext) -> Any:
        if context.get_input() == "again":
            event = yield context.wait_for_external_event("Later")
            return event
        yield context.wait_for_external_event("Now")
        context.continue_as_new("again")

    hub = await make_hub(later)
    id = await hub.start("later", "first")

    # When Later comes in the first round
    await hub.client.raise_event(id, "Later", 1)
    await hub.waiting(id)
    await hub.client.raise_event(id, "Now", 2)

    # Then the second round gets it
    assert (await hub.ended(id))["output"] == "1"


async def test_an_answer_for_an_execution_before_reaches_nobody(make_hub: MakeHub) -> None:
    # Given an instance that was terminated while its activity ran, and started again
    release = asyncio.Event()
    results = iter(["of the first run", "of the second run"])

    async def slow(value: Any) -> str:
        result = next(results)
        if result == "of the first run":
            await release.wait()
        return result

    def calls(context: df.DurableOrchestrationContext) -> Any:
        result = yield context.call_activity("slow", 1)
        yield context.wait_for_external_event("Go")
        return result

    hub = await make_hub(calls, activities=[slow])
    await hub.start("calls", id="again")
    await hub.waiting("again")
    await hub.client.terminate("again", "start over")
    await hub.ended("again")
    await hub.start("calls", id="again")
    await hub.waiting("again", calls=4)

    # When the first activity answers after all
    release.set()
    await hub.client.raise_event("again", "Go")

    # Then the second run has its own result, and saw no other
    assert (await hub.ended("again"))["output"] == "of the second run"
    kinds = [event["EventType"] for event in await hub.history("again")]
    assert kinds.count("TaskCompleted") == 1
