"""External events: data, early ones, several of one name, names, and who gets them."""

from datetime import timedelta
from typing import Any

import azure.durable_functions as df
import pytest

from tests.contract.durable.conftest import MakeHub

# The library warns of every event that comes before its wait.
pytestmark = pytest.mark.filterwarnings("ignore:Potential duplicate Task completion")


def wait_once(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.wait_for_external_event("Go")
    return result


def wait_twice(context: df.DurableOrchestrationContext) -> Any:
    first = yield context.wait_for_external_event("Go")
    second = yield context.wait_for_external_event("Go")
    return [first, second]


def wait_twice_at_once(context: df.DurableOrchestrationContext) -> Any:
    results = yield context.task_all([context.wait_for_external_event("Go") for _ in range(2)])
    return results


def wait_late(context: df.DurableOrchestrationContext) -> Any:
    yield context.create_timer(context.current_utc_datetime + timedelta(seconds=2))
    first = yield context.wait_for_external_event("Go")
    if context.get_input() == 1:
        return first
    second = yield context.wait_for_external_event("Go")
    return [first, second]


@pytest.mark.parametrize(
    ("data", "received"),
    [({"n": 1}, '{"n": 1}'), ("text", '"text"'), (None, "null"), ([1], "[1]"), (5, "5")],
)
async def test_data_raised_by_the_client_arrives_as_json_text(
    make_hub: MakeHub, data: Any, received: str
) -> None:
    hub = await make_hub(wait_once)
    id = await hub.start("wait_once")
    await hub.waiting(id)
    await hub.client.raise_event(id, "Go", data)
    assert (await hub.ended(id))["output"] == received


async def test_data_raised_by_plain_http_arrives_as_it_is(make_hub: MakeHub) -> None:
    hub = await make_hub(wait_once)
    id = await hub.start("wait_once")
    assert await hub.post(f"instances/{id}/raiseEvent/Go", {"n": 1}) == 202
    assert (await hub.ended(id))["output"] == {"n": 1}


async def test_an_event_before_its_wait_is_kept(make_hub: MakeHub) -> None:
    # Given an orchestrator that sleeps before it waits
    hub = await make_hub(wait_late)
    await hub.start("wait_late", 1, "late")
    await hub.waiting("late")

    # When the event comes while it sleeps
    await hub.client.raise_event("late", "Go", {"early": 1})

    # Then the wait gets it
    assert (await hub.ended("late"))["output"] == '{"early": 1}'


async def test_an_event_raised_right_after_the_start_is_kept(make_hub: MakeHub) -> None:
    hub = await make_hub(wait_once)
    await hub.start("wait_once", id="quick")
    await hub.client.raise_event("quick", "Go", 1)
    assert (await hub.ended("quick"))["output"] == "1"


async def test_of_two_early_events_of_one_name_the_second_is_given_to_both_waits(
    make_hub: MakeHub,
) -> None:
    hub = await make_hub(wait_late)
    await hub.start("wait_late", 2, "two")
    await hub.client.raise_event("two", "Go", "first")
    await hub.client.raise_event("two", "Go", "second")
    assert (await hub.ended("two"))["output"] == ['"second"', '"second"']


async def test_events_for_waits_one_after_the_other_come_in_order(make_hub: MakeHub) -> None:
    hub = await make_hub(wait_twice)
    id = await hub.start("wait_twice")
    await hub.waiting(id)
    await hub.client.raise_event(id, "Go", "a")
    await hub.waiting(id, calls=2)
    await hub.client.raise_event(id, "Go", "b")
    assert (await hub.ended(id))["output"] == ['"a"', '"b"']


async def test_of_two_waits_at_once_the_last_gets_the_first_event(make_hub: MakeHub) -> None:
    hub = await make_hub(wait_twice_at_once)
    id = await hub.start("wait_twice_at_once")
    await hub.waiting(id)
    await hub.client.raise_event(id, "Go", "a")
    await hub.client.raise_event(id, "Go", "b")
    assert (await hub.ended(id))["output"] == ['"b"', '"a"']


async def test_the_case_of_an_event_name_matters(make_hub: MakeHub) -> None:
    # Given an orchestrator that waits for Go
    hub = await make_hub(wait_once)
    id = await hub.start("wait_once")
    await hub.waiting(id)

    # When gO is raised, the orchestrator is called and waits on
    await hub.client.raise_event(id, "gO", 1)
    await hub.waiting(id, calls=2)
    assert (await hub.status(id))["runtimeStatus"] == "Running"

    # Then Go ends it
    await hub.client.raise_event(id, "Go", 2)
    assert (await hub.ended(id))["output"] == "2"


@pytest.mark.parametrize("name", ["a b", "é"])
async def test_event_names_with_odd_characters_arrive(make_hub: MakeHub, name: str) -> None:
    def waits(context: df.DurableOrchestrationContext) -> Any:
        result = yield context.wait_for_external_event(name)
        return result

    hub = await make_hub(waits)
    id = await hub.start("waits")
    await hub.client.raise_event(id, name, 1)
    assert (await hub.ended(id))["output"] == "1"


async def test_all_events_that_have_come_are_one_episode(make_hub: MakeHub) -> None:
    # Given an instance whose first call has not begun
    hub = await make_hub(wait_once)
    hub.engine.instances.start("wait_once", "batch", None)

    # When two events are raised before it begins
    hub.engine.instances.raise_event("batch", "Other", "1")
    hub.engine.instances.raise_event("batch", "Go", "2")

    # Then one call sees the start and both events
    assert (await hub.ended("batch"))["output"] == 2
    (document,) = hub.functions.documents_of("batch")
    assert [event["EventType"] for event in document["history"]] == [12, 0, 15, 15]
