"""Timers: when they fire, and what cancelled and forgotten ones do to their instance."""

import asyncio
from datetime import date, timedelta
from typing import Any

import azure.durable_functions as df
import pytest

from tests.contract.durable.conftest import MakeHub
from tests.contract.durable.hub import Hub


def until_event(context: df.DurableOrchestrationContext) -> Any:
    """Race an event against a timer of that many seconds; cancel the timer if so told."""
    seconds, cancels = context.get_input()
    timer = context.create_timer(context.current_utc_datetime + timedelta(seconds=seconds))
    event = context.wait_for_external_event("Go")
    winner = yield context.task_any([event, timer])
    if winner is timer:
        return "timer"
    if cancels:
        timer.cancel()
    return "event"


async def kinds(hub: Hub, id: str) -> list[str]:
    return [event["EventType"] for event in await hub.history(id)]


def sleep(context: df.DurableOrchestrationContext) -> Any:
    """Sleep for that many seconds; answers how many it were."""
    before = context.current_utc_datetime
    yield context.create_timer(before + timedelta(seconds=context.get_input()))
    return (context.current_utc_datetime - before).total_seconds()


async def test_the_delay_of_a_timer_is_cut_to_whole_seconds(make_hub: MakeHub) -> None:
    # Given an orchestrator that sleeps for 1.9 seconds
    hub = await make_hub(sleep)

    # When it runs
    end = await hub.run("sleep", 1.9, "sleeper")

    # Then it goes on after one second, before the time that it asked for
    assert 1 <= end["output"] < 1.9
    created, fired = (await hub.history("sleeper"))[1:3]
    assert (created["EventType"], fired["EventType"]) == ("TimerCreated", "TimerFired")
    assert created["FireAt"] == fired["FireAt"]


@pytest.mark.parametrize("seconds", [-5, 0, 0.9])
async def test_a_timer_due_within_a_second_fires_at_once(make_hub: MakeHub, seconds: float) -> None:
    hub = await make_hub(sleep)
    assert (await hub.run("sleep", seconds))["output"] < 0.9


async def test_a_cancelled_timer_does_not_hold_its_instance(make_hub: MakeHub) -> None:
    # Given a race of an event against an hour
    hub = await make_hub(until_event)
    await hub.start("until_event", [3600, True], "race")
    await hub.waiting("race")

    # When the event wins and the timer is cancelled
    await hub.client.raise_event("race", "Go", 1)

    # Then the instance is over, and nothing of the timer is left but that it was made
    assert (await hub.ended("race"))["output"] == "event"
    assert await kinds(hub, "race") == [
        "ExecutionStarted",
        "TimerCreated",
        "EventRaised",
        "ExecutionCompleted",
    ]


async def test_a_timer_that_is_not_cancelled_holds_its_instance(make_hub: MakeHub) -> None:
    # Given a race of an event against two seconds
    hub = await make_hub(until_event)
    await hub.start("until_event", [2, False], "held")
    await hub.waiting("held")

    # When the event wins and the timer is left alone
    await hub.client.raise_event("held", "Go", 1)
    await hub.waiting("held", calls=2)

    # Then the orchestrator has returned, and the instance runs on until the timer has fired
    assert (await hub.status("held"))["runtimeStatus"] == "Running"
    assert (await hub.ended("held"))["output"] == "event"
    assert await kinds(hub, "held") == [
        "ExecutionStarted",
        "TimerCreated",
        "EventRaised",
        "TimerFired",
        "ExecutionCompleted",
    ]


async def test_a_timer_that_wins_is_told_to_the_orchestrator(make_hub: MakeHub) -> None:
    hub = await make_hub(until_event)
    assert (await hub.run("until_event", [1.5, True]))["output"] == "timer"


async def test_a_deadline_of_weeks_can_be_given_up(make_hub: MakeHub) -> None:
    # Given a timer longer than the library sets in one piece
    hub = await make_hub(until_event)
    await hub.start("until_event", [14 * 24 * 3600, False], "long")
    await hub.waiting("long")

    # Then its first piece is three days
    (created,) = [e for e in await hub.history("long") if e["EventType"] == "TimerCreated"]
    started = (await hub.history("long"))[0]["Timestamp"]
    assert _days(created["FireAt"]) - _days(started) == 3


def _days(timestamp: str) -> int:
    return date.fromisoformat(timestamp[:10]).toordinal()


async def test_many_timers_cost_no_task_each(make_hub: MakeHub) -> None:
    # Given two hundred instances that sleep for an hour
    hub = await make_hub(sleep)
    before = len(asyncio.all_tasks())
    ids = [hub.engine.instances.start("sleep", None, '"3600"') for _ in range(200)]

    # When all of them do
    for id in ids:
        await hub.waiting(id)

    # Then no task belongs to any of them
    assert len(asyncio.all_tasks()) <= before + 1


async def test_with_a_fast_clock_a_timer_of_minutes_takes_seconds(make_hub: MakeHub) -> None:
    # Given an orchestration that waits for ten minutes, on a clock that runs 600 times faster
    def long_wait(context: df.DurableOrchestrationContext) -> Any:
        began = context.current_utc_datetime
        yield context.create_timer(began + timedelta(minutes=10))
        return (context.current_utc_datetime - began).total_seconds()

    hub = await make_hub(long_wait, clock_rate=600)

    # When it is run, it ends in seconds, and has seen its minutes pass
    end = await hub.ended(await hub.start("long_wait"), seconds=5)
    assert 599 <= end["output"] < 1500
