"""What orchestrators get and answer: the document, custom status, failures, unsupported calls."""

from datetime import timedelta
from typing import Any

import azure.durable_functions as df

from tests.contract.durable.conftest import MakeHub


def echo(value: Any) -> Any:
    return value


async def test_the_document_is_the_recorded_protocol(make_hub: MakeHub) -> None:
    # Given an orchestration with one activity
    def one_call(context: df.DurableOrchestrationContext) -> Any:
        result = yield context.call_activity("echo", 1)
        return result

    hub = await make_hub(one_call, activities=[echo])
    await hub.run("one_call", {"k": "v"}, id="it")
    first, second = hub.functions.documents_of("it")

    # Then the first document holds the start, and isn't a replay
    history = first.pop("history")
    assert first == {
        "input": '{"k": "v"}',
        "instanceId": "it",
        "isReplaying": False,
        "parentInstanceId": None,
        "sourceInstanceId": None,
        "upperSchemaVersion": 1,
        "upperSchemaVersionNew": 3,
        "longRunningTimerIntervalDuration": "3.00:00:00",
        "maximumShortTimerDuration": "6.00:00:00",
        "defaultHttpAsyncRequestSleepTimeMillseconds": 30000,
    }
    assert [(event["EventType"], event["IsPlayed"]) for event in history] == [
        (12, False),
        (0, False),
    ]

    # And the second adds what was scheduled and what came of it, the start being played
    assert second["isReplaying"] is True
    assert [(event["EventType"], event["IsPlayed"]) for event in second["history"]] == [
        (12, False),
        (0, True),
        (4, False),
        (13, False),
        (12, False),
        (5, False),
    ]


async def test_the_time_of_an_orchestrator_is_that_of_its_episode(make_hub: MakeHub) -> None:
    def looks_twice(context: df.DurableOrchestrationContext) -> Any:
        before = context.current_utc_datetime
        yield context.create_timer(before + timedelta(seconds=1))
        return [before.isoformat(), context.current_utc_datetime.isoformat()]

    hub = await make_hub(looks_twice)
    before, after = (await hub.run("looks_twice", id="it"))["output"]
    started = [
        event["Timestamp"]
        for event in hub.functions.documents_of("it")[-1]["history"]
        if event["EventType"] == 12
    ]
    assert [before[:26], after[:26]] == [time[:26] for time in started]


async def test_the_custom_status_is_what_was_set_last(make_hub: MakeHub) -> None:
    # Given an orchestrator that sets text, an object, nothing and a number
    def tells(context: df.DurableOrchestrationContext) -> Any:
        for status in ("one", {"two": [1, None]}, None):
            context.set_custom_status(status)
            yield context.wait_for_external_event("Go")
        context.set_custom_status(5)
        return "done"

    hub = await make_hub(tells)
    await hub.start("tells", id="it")

    # When it is taken from step to step
    seen = []
    for call in (1, 2, 3):
        await hub.waiting("it", calls=call)
        seen.append((await hub.status("it"))["customStatus"])
        await hub.client.raise_event("it", "Go")

    # Then each is shown, and the last stays
    assert seen == ["one", {"two": [1, None]}, None]
    assert (await hub.ended("it"))["customStatus"] == 5


async def test_an_orchestrator_that_raises_fails_with_its_text(make_hub: MakeHub) -> None:
    def raises(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_activity("echo", 1)
        raise RuntimeError("no good")

    hub = await make_hub(raises, activities=[echo])
    end = await hub.run("raises")
    assert end["runtimeStatus"] == "Failed"
    assert end["output"] == "Orchestrator function 'raises' failed: no good"


async def test_an_orchestrator_that_yields_no_task_fails_with_the_workers_words(
    make_hub: MakeHub,
) -> None:
    def yields_a_number(context: df.DurableOrchestrationContext) -> Any:
        yield 1

    hub = await make_hub(yields_a_number)
    end = await hub.run("yields_a_number")
    assert end["output"].startswith(
        "Orchestrator function 'yields_a_number' failed: One or more errors occurred. "
        "(Result: Failure\nException: AttributeError: 'int' object has no attribute"
    )


async def test_an_orchestrator_without_a_yield_completes_in_one_call(make_hub: MakeHub) -> None:
    def plain(context: df.DurableOrchestrationContext) -> Any:
        return "direct"

    hub = await make_hub(plain)
    assert (await hub.run("plain", id="it"))["output"] == "direct"
    assert len(hub.functions.documents_of("it")) == 1


async def test_an_orchestrator_that_changes_its_mind_fails_as_non_deterministic(
    make_hub: MakeHub,
) -> None:
    # Given an orchestrator that calls an activity at first and sets a timer in the replay
    def fickle(context: df.DurableOrchestrationContext) -> Any:
        if context.is_replaying:
            yield context.create_timer(context.current_utc_datetime + timedelta(seconds=2))
        else:
            yield context.call_activity("echo", 1)

    hub = await make_hub(fickle, activities=[echo])

    # Then it fails with the recorded text
    assert (await hub.run("fickle"))["output"] == (
        "Non-Deterministic workflow detected: A previous execution of this orchestration scheduled "
        "an activity task with sequence number 0 named 'echo', but the current orchestration "
        "replay instead produced a CreateTimerOrchestratorAction action with this sequence number. "
        "Was a change made to the orchestrator code after this instance had already started "
        "running?"
    )


async def test_an_unknown_orchestrator_is_accepted_and_fails(make_hub: MakeHub) -> None:
    def known(context: df.DurableOrchestrationContext) -> Any:
        return None

    def also_known(context: df.DurableOrchestrationContext) -> Any:
        return None

    hub = await make_hub(known, also_known)
    end = await hub.run("nosuch")
    assert end["runtimeStatus"] == "Failed"
    assert end["output"] == (
        "Orchestrator function 'nosuch' failed: The function 'nosuch' doesn't exist, is disabled, "
        "or is not an orchestrator function. Additional info: The following are the known "
        "orchestrator functions: 'known', 'also_known'."
    )


async def test_names_of_orchestrators_are_compared_without_case(make_hub: MakeHub) -> None:
    def plain(context: df.DurableOrchestrationContext) -> Any:
        return 1

    hub = await make_hub(plain)
    end = await hub.run("PLAIN")
    assert (end["name"], end["output"]) == ("PLAIN", 1)


async def test_a_durable_http_call_fails_its_instance_and_says_why(make_hub: MakeHub) -> None:
    def calls_http(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_http("GET", "http://127.0.0.1:1/")

    hub = await make_hub(calls_http)
    assert (await hub.run("calls_http"))["output"] == (
        "Orchestrator function 'calls_http' failed: "
        "call_http is not supported by the embedded durable engine"
    )


async def test_a_call_of_an_entity_fails_its_instance_and_says_why(make_hub: MakeHub) -> None:
    def calls_entity(context: df.DurableOrchestrationContext) -> Any:
        yield context.call_entity(df.EntityId("counter", "one"), "get")

    hub = await make_hub(calls_entity)
    assert "call_entity is not supported" in (await hub.run("calls_entity"))["output"]


async def test_large_inputs_come_through(make_hub: MakeHub) -> None:
    def measures(context: df.DurableOrchestrationContext) -> Any:
        result = yield context.call_activity("echo", context.get_input())
        return len(result)

    hub = await make_hub(measures, activities=[echo])
    end = await hub.run("measures", "x" * 200_000)
    assert end["output"] == 200_000
