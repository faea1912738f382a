"""Activities: inputs and results, failures and their texts, retry options, unknown names."""

import asyncio
import json
from typing import Any

import azure.durable_functions as df
import pytest

from tests.contract.durable.conftest import MakeHub
from tests.until import until


def echo(value: Any) -> Any:
    return value


def boom(value: Any) -> None:
    raise ValueError(f"boom {value}")


def give_set(value: Any) -> set[int]:
    return {1}


@pytest.mark.parametrize(
    "value",
    ["text", "", "5", "null", '{"a": 1}', 5, 0.25, True, None, [1, "a"], {"k": [None]}, "ä€"],
)
async def test_inputs_and_results_come_through_as_they_are(make_hub: MakeHub, value: Any) -> None:
    # Given an orchestrator that passes its input to an activity and returns what that returns
    def passes_on(context: df.DurableOrchestrationContext) -> Any:
        result = yield context.call_activity("echo", context.get_input())
        return [result, type(result).__name__]

    hub = await make_hub(passes_on, activities=[echo])

    # When it runs
    end = await hub.run("passes_on", value)

    # Then the value comes out with its type
    assert end["output"] == [value, type(value).__name__]
    assert end["input"] == (None if value is None else json.dumps(value))


async def test_a_failed_activity_fails_the_orchestration_with_the_recorded_text(
    make_hub: MakeHub,
) -> None:
    # Given an orchestrator that doesn't catch the failure of its activity
    def careless(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_activity("boom", {"a": 1})

    hub = await make_hub(careless, activities=[boom])

    # When it runs
    end = await hub.run("careless")

    # Then its output says which function failed, how, and holds the .NET exception as JSON
    assert end["runtimeStatus"] == "Failed"
    text, details = end["output"].split(" \n ", 1)
    assert text == (
        "Orchestrator function 'careless' failed: "
        "Activity function 'boom' failed: ValueError: boom {'a': 1}"
    )
    exception = json.loads(details)
    assert exception["Message"] == "ValueError: boom {'a': 1}"
    assert exception["InnerException"]["RemoteMessage"] == "ValueError: boom {'a': 1}"
    assert exception["InnerException"]["Message"].startswith(
        "Result: Failure\nException: ValueError: boom {'a': 1}\nStack:   File "
    )


async def test_an_orchestrator_can_catch_the_failure_of_an_activity(make_hub: MakeHub) -> None:
    def careful(context: df.DurableOrchestrationContext) -> Any:
        try:
            yield context.call_activity("boom", 1)
        except Exception as error:
            return str(error).split(" \n ")[0]

    hub = await make_hub(careful, activities=[boom])
    end = await hub.run("careful")
    assert end["runtimeStatus"] == "Completed"
    assert end["output"] == "Activity function 'boom' failed: ValueError: boom 1"


async def test_a_result_that_is_not_json_fails_the_activity(make_hub: MakeHub) -> None:
    def gets_set(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_activity("give_set", 1)

    hub = await make_hub(gets_set, activities=[give_set])
    end = await hub.run("gets_set")
    assert "activity trigger output must be json serializable ({1})" in end["output"]


async def test_an_activity_is_tried_again_until_it_works(make_hub: MakeHub) -> None:
    # Given an activity that works at the third call
    calls = []

    def flaky(value: Any) -> str:
        calls.append(value)
        if len(calls) < 3:
            raise RuntimeError(f"attempt {len(calls)}")
        return f"ok after {len(calls)}"

    def insists(context: df.DurableOrchestrationContext) -> Any:
        options = df.RetryOptions(100, 3)
        result = yield context.call_activity_with_retry("flaky", options, "x")
        return result

    hub = await make_hub(insists, activities=[flaky])

    # When it is called with three attempts
    end = await hub.run("insists", id="retried")

    # Then the third result is returned, and the history shows failures with timers between them
    assert end["output"] == "ok after 3"
    assert [event["EventType"] for event in await hub.history("retried")] == [
        "ExecutionStarted",
        *["TaskFailed", "TimerCreated", "TimerFired"] * 2,
        "TaskCompleted",
        "ExecutionCompleted",
    ]


async def test_after_the_last_attempt_there_is_one_more_timer(make_hub: MakeHub) -> None:
    # Given an activity that never works, and two attempts
    def gives_up(context: df.DurableOrchestrationContext) -> Any:
        try:
            yield context.call_activity_with_retry("boom", df.RetryOptions(100, 2), 1)
        except Exception as error:
            return str(error).split(" \n ")[0]

    hub = await make_hub(gives_up, activities=[boom])

    # When it runs
    end = await hub.run("gives_up", id="gone")

    # Then it was called twice, with as many timers as attempts
    assert end["output"] == "Activity function 'boom' failed: ValueError: boom 1"
    assert len(hub.functions.activity_calls) == 2
    kinds = [event["EventType"] for event in await hub.history("gone")]
    assert kinds.count("TimerCreated") == kinds.count("TimerFired") == 2


async def test_two_retried_activities_side_by_side_both_give_their_results(
    make_hub: MakeHub,
) -> None:
    # Given two retried activities in one wait, of which one fails at first
    failed = []

    def fails_once(name: str) -> str:
        if name == "a" and not failed:
            failed.append(name)
            raise RuntimeError("not yet")
        return name.upper()

    def both(context: df.DurableOrchestrationContext) -> Any:
        options = df.RetryOptions(100, 3)
        results = yield context.task_all(
            [context.call_activity_with_retry("fails_once", options, name) for name in "ab"]
        )
        last = yield context.call_activity("fails_once", "c")
        return [*results, last]

    hub = await make_hub(both, activities=[fails_once])

    # Then both results are there, and what comes after them too
    assert (await hub.run("both"))["output"] == ["A", "B", "C"]


async def test_an_unknown_activity_leaves_the_instance_running_with_a_line_in_the_log(
    make_hub: MakeHub, caplog: pytest.LogCaptureFixture
) -> None:
    # Given an orchestrator that calls an activity that doesn't exist
    def mistaken(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_activity("nosuch", 1)

    hub = await make_hub(mistaken, activities=[echo])

    # When it runs
    await hub.start("mistaken", id="lost")
    await until(lambda: "nosuch" in caplog.text)

    # Then it stays Running, nothing is scheduled, and the log names the function and the instance
    assert (await hub.status("lost"))["runtimeStatus"] == "Running"
    assert [event["EventType"] for event in await hub.history("lost")] == ["ExecutionStarted"]
    assert "instance lost waits in vain. The function 'nosuch' doesn't exist" in caplog.text


async def test_activity_names_are_compared_without_case(make_hub: MakeHub) -> None:
    def shouts(context: df.DurableOrchestrationContext) -> Any:
        result = yield context.call_activity("ECHO", 1)
        return result

    hub = await make_hub(shouts, activities=[echo])
    assert (await hub.run("Shouts"))["output"] == 1


async def test_no_more_activities_run_at_once_than_allowed(make_hub: MakeHub) -> None:
    # Given an activity that counts how many of it are running
    running, most = 0, 0

    async def count(value: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return value

    def fans_out(context: df.DurableOrchestrationContext) -> Any:
        results = yield context.task_all([context.call_activity("count", n) for n in range(60)])
        return sum(results)

    hub = await make_hub(fans_out, activities=[count])

    # When sixty are asked for, with a limit of twenty
    assert (await hub.run("fans_out"))["output"] == sum(range(60))

    # Then the limit was reached and kept
    assert most == 20
