"""Sub-orchestrations: ids, results, failures, retries, and parents that are told."""

from typing import Any

import azure.durable_functions as df
import pytest

from tests.contract.durable.conftest import MakeHub
from tests.until import until


def echo(value: Any) -> Any:
    return value


def boom(value: Any) -> None:
    raise ValueError(f"boom {value}")


def child(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.call_activity("echo", context.get_input())
    return [result, context.parent_instance_id]


def failing_child(context: df.DurableOrchestrationContext) -> Any:
    yield context.call_activity("boom", 1)


def parent(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.call_sub_orchestrator("child", {"in": 1})
    return result


async def test_a_child_returns_to_its_parent(make_hub: MakeHub) -> None:
    # Given a parent that calls a child without naming an instance
    hub = await make_hub(parent, child, activities=[echo])

    # When it runs
    end = await hub.run("parent", id="father")

    # Then the child's result is the parent's, and the child knew its parent
    assert end["output"] == [{"in": 1}, "father"]

    # And the child is an instance of its own, under an id made of the parent's execution and task
    (first, *_) = hub.functions.documents_of("father")
    execution_id = first["history"][1]["OrchestrationInstance"]["ExecutionId"]
    status = await hub.status(f"{execution_id}:0")
    assert status["name"] == "child"
    assert status["runtimeStatus"] == "Completed"
    assert status["parentInstanceId"] == "father"
    answer = (await hub.history("father"))[1]
    assert answer["EventType"] == "SubOrchestrationInstanceCompleted"
    assert answer["InstanceId"] == f"{execution_id}:0"


async def test_a_child_can_be_given_its_id(make_hub: MakeHub) -> None:
    def names_it(context: df.DurableOrchestrationContext) -> Any:
        result = yield context.call_sub_orchestrator("child", 5, "son")
        return result

    hub = await make_hub(names_it, child, activities=[echo])
    assert (await hub.run("names_it", id="father"))["output"] == [5, "father"]
    assert (await hub.status("son"))["runtimeStatus"] == "Completed"


async def test_the_failure_of_a_child_is_told_with_both_names(make_hub: MakeHub) -> None:
    def careless(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_sub_orchestrator("failing_child")

    hub = await make_hub(careless, failing_child, activities=[boom])
    end = await hub.run("careless")
    assert end["runtimeStatus"] == "Failed"
    assert end["output"].startswith(
        "Orchestrator function 'careless' failed: Orchestrator function 'failing_child' failed: "
        "Activity function 'boom' failed: ValueError: boom 1 \n {"
    )


async def test_a_child_is_tried_again(make_hub: MakeHub) -> None:
    # Given a parent that tries a failing child twice
    def insists(context: df.DurableOrchestrationContext) -> Any:
        try:
            options = df.RetryOptions(100, 2)
            yield context.call_sub_orchestrator_with_retry("failing_child", options)
        except Exception as error:
            return str(error)[:45]

    hub = await make_hub(insists, failing_child, activities=[boom])

    # When it runs
    end = await hub.run("insists")

    # Then there were two children
    assert end["output"] == "Orchestrator function 'failing_child' failed:"
    names = [one.name for one in await all_instances(hub)]
    assert sorted(names) == ["failing_child", "failing_child", "insists"]


async def test_a_terminated_child_fails_its_call(make_hub: MakeHub) -> None:
    def waits(context: df.DurableOrchestrationContext) -> Any:
        yield context.wait_for_external_event("Never")

    def cares(context: df.DurableOrchestrationContext) -> Any:
        try:
            yield context.call_sub_orchestrator("waits", None, "son")
        except Exception as error:
            return str(error)

    # Given a parent that waits for a child
    hub = await make_hub(waits, cares)
    id = await hub.start("cares")
    await until(lambda: hub.functions.documents_of("son"))

    # When the child is terminated
    await hub.client.terminate("son", "enough")

    # Then the parent gets the reason as an exception
    assert (await hub.ended(id))["output"] == "enough \n None"


async def test_an_unknown_child_leaves_the_parent_running(
    make_hub: MakeHub, caplog: pytest.LogCaptureFixture
) -> None:
    def mistaken(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_sub_orchestrator("nosuch")

    hub = await make_hub(mistaken)
    id = await hub.start("mistaken")
    await until(lambda: "The function 'nosuch' doesn't exist" in caplog.text)
    assert (await hub.status(id))["runtimeStatus"] == "Running"


async def all_instances(hub: Any) -> list[Any]:
    return list(await hub.client.get_status_all())
