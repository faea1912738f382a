"""task_any and task_all: results, failures, nesting, and what the losers do to the instance."""

import asyncio
from datetime import timedelta
from typing import Any

import azure.durable_functions as df
import pytest

from tests.contract.durable.conftest import MakeHub


def echo(value: Any) -> Any:
    return value


def boom(value: Any) -> None:
    raise ValueError(f"boom {value}")


async def rest(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


async def test_task_all_gives_all_results_in_the_order_of_asking(make_hub: MakeHub) -> None:
    def all_of_them(context: df.DurableOrchestrationContext) -> Any:
        tasks = [context.call_activity("rest", seconds) for seconds in (0.1, 0, 0.05)]
        results = yield context.task_all(tasks)
        return results

    hub = await make_hub(all_of_them, activities=[rest])
    assert (await hub.run("all_of_them"))["output"] == [0.1, 0, 0.05]


async def test_the_loser_of_task_any_holds_its_instance(make_hub: MakeHub) -> None:
    # Given a race of a quick and a slow activity
    def race(context: df.DurableOrchestrationContext) -> Any:
        quick = context.call_activity("rest", 0)
        slow = context.call_activity("rest", 0.5)
        winner = yield context.task_any([quick, slow])
        return winner is quick

    hub = await make_hub(race, activities=[rest])

    # When the quick one has won, the orchestrator returns
    id = await hub.start("race")
    await hub.waiting(id, calls=2)
    assert (await hub.status(id))["runtimeStatus"] == "Running"

    # Then the instance ends when the slow one has come back too
    assert (await hub.ended(id))["output"] is True
    kinds = [event["EventType"] for event in await hub.history(id)]
    assert kinds.count("TaskCompleted") == 2


async def test_a_failure_in_task_all_is_final_once_the_others_are_back(make_hub: MakeHub) -> None:
    # Given a failing and a slow activity in one wait
    def fails(context: df.DurableOrchestrationContext) -> Any:
        yield context.task_all(
            [context.call_activity("boom", 1), context.call_activity("rest", 0.5)]
        )

    hub = await make_hub(fails, activities=[boom, rest])

    # When the first has failed, the orchestrator has too
    id = await hub.start("fails")
    await hub.waiting(id, calls=2)
    assert (await hub.status(id))["runtimeStatus"] == "Running"

    # Then the instance is Failed when the slow one is back
    end = await hub.ended(id)
    assert end["runtimeStatus"] == "Failed"
    assert "Activity function 'boom' failed: ValueError: boom 1" in end["output"]


async def test_a_failure_in_task_all_can_be_caught(make_hub: MakeHub) -> None:
    def catches(context: df.DurableOrchestrationContext) -> Any:
        try:
            yield context.task_all(
                [context.call_activity("boom", 1), context.call_activity("echo", 2)]
            )
        except Exception:
            result = yield context.call_activity("echo", "caught")
            return result

    hub = await make_hub(catches, activities=[boom, echo])
    assert (await hub.run("catches"))["output"] == "caught"


async def test_an_empty_task_all_gives_nothing_at_once(make_hub: MakeHub) -> None:
    def nothing(context: df.DurableOrchestrationContext) -> Any:
        results = yield context.task_all([])
        return results

    hub = await make_hub(nothing)
    end = await hub.run("nothing")
    assert (end["runtimeStatus"], end["output"]) == ("Completed", None)


async def test_waits_can_be_nested(make_hub: MakeHub) -> None:
    # Given two calls and an event with a deadline, waited for together
    def nested(context: df.DurableOrchestrationContext) -> Any:
        event = context.wait_for_external_event("Go")
        deadline = context.create_timer(context.current_utc_datetime + timedelta(hours=1))
        both = context.task_all([context.call_activity("echo", n) for n in (1, 2)])
        results = yield context.task_all([both, context.task_any([event, deadline])])
        deadline.cancel()
        after = yield context.call_activity("echo", "after")
        return [results[0], results[1] is event, after]

    hub = await make_hub(nested, activities=[echo])
    id = await hub.start("nested")
    await hub.waiting(id, calls=2)

    # When the event comes
    await hub.client.raise_event(id, "Go", 1)

    # Then everything has its result, and what comes after runs too
    assert (await hub.ended(id))["output"] == [[1, 2], True, "after"]


async def test_tasks_can_be_raced_again_and_again(make_hub: MakeHub) -> None:
    # Given an orchestrator that takes its tasks in the order of their ends
    def one_by_one(context: df.DurableOrchestrationContext) -> Any:
        tasks = [context.call_activity("rest", seconds) for seconds in (0.2, 0, 0.1)]
        order = []
        while tasks:
            winner = yield context.task_any(tasks)
            tasks.remove(winner)
            order.append(winner.result)
        return order

    hub = await make_hub(one_by_one, activities=[rest])
    assert (await hub.run("one_by_one"))["output"] == [0, 0.1, 0.2]


@pytest.mark.filterwarnings("ignore:Potential duplicate Task completion")
async def test_waits_made_once_can_be_raced_against_a_timer_each_round(make_hub: MakeHub) -> None:
    # Given an orchestrator that waits for Started, then for Ended, each time against a deadline
    def tracks(context: df.DurableOrchestrationContext) -> Any:
        ended = context.wait_for_external_event("Ended")
        started = context.wait_for_external_event("Started")
        events, seen = [ended, started], []
        yield context.call_activity("echo", "call")
        while True:
            timer = context.create_timer(context.current_utc_datetime + timedelta(hours=1))
            winner = yield context.task_any([*events, timer])
            timer.cancel()
            seen.append("Ended" if winner is ended else "Started")
            if winner is ended:
                return seen
            events = [ended]

    hub = await make_hub(tracks, activities=[echo])

    # When both come in order, both come before the first wait, or only the last comes
    await hub.start("tracks", id="in-order")
    await hub.waiting("in-order", calls=2)
    await hub.client.raise_event("in-order", "Started")
    await hub.waiting("in-order", calls=3)
    await hub.client.raise_event("in-order", "Ended")
    await hub.start("tracks", id="early")
    await hub.client.raise_event("early", "Started")
    await hub.client.raise_event("early", "Ended")
    await hub.start("tracks", id="last-only")
    await hub.client.raise_event("last-only", "Ended")

    # Then each ends at once
    assert (await hub.ended("in-order"))["output"] == ["Started", "Ended"]
    assert (await hub.ended("early"))["output"][-1] == "Ended"
    assert (await hub.ended("last-only"))["output"] == ["Ended"]


async def test_a_hundred_activities_at_once(make_hub: MakeHub) -> None:
    def fans_out(context: df.DurableOrchestrationContext) -> Any:
        results = yield context.task_all([context.call_activity("echo", n) for n in range(100)])
        return results

    hub = await make_hub(fans_out, activities=[echo])
    assert (await hub.run("fans_out"))["output"] == list(range(100))
