"""The calls of Microsoft's Python client, and what it makes of the answers."""

from datetime import UTC, datetime, timedelta
from typing import Any

import azure.durable_functions as df
import azure.functions as func
import pytest
from azure.durable_functions import OrchestrationRuntimeStatus as Status

from tests.contract.durable.conftest import MakeHub
from tests.contract.durable.hub import Hub


def done(context: df.DurableOrchestrationContext) -> Any:
    return context.get_input()


def fails(context: df.DurableOrchestrationContext) -> Any:
    raise RuntimeError("no good")


def waits(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.wait_for_external_event("Go")
    return result


@pytest.fixture
async def hub(make_hub: MakeHub) -> Hub:
    return await make_hub(done, fails, waits)


async def test_an_instance_gets_the_id_it_is_given_or_one_of_32_digits(hub: Hub) -> None:
    assert await hub.client.start_new("done", "mine") == "mine"
    generated = await hub.client.start_new("done")
    assert len(generated) == 32
    assert int(generated, 16)


@pytest.mark.parametrize("id", ["has space", "a%b", "é", "@x", "a:b", "a\\b", 'a"b', "x" * 300])
async def test_odd_ids_work(hub: Hub, id: str) -> None:
    assert await hub.client.start_new("done", id, 1) == id
    await hub.ended(id)
    assert (await hub.client.get_status(id)).output == 1


async def test_ids_that_differ_in_case_are_two(hub: Hub) -> None:
    await hub.run("done", 1, "Case")
    await hub.run("done", 2, "case")
    assert (await hub.status("Case"))["output"] == 1


async def test_an_id_in_use_is_refused(hub: Hub) -> None:
    # Given an instance that waits
    await hub.start("waits", id="taken")
    await hub.waiting("taken")

    # When its id is used again, the client raises
    with pytest.raises(Exception, match="instance with the status Running already exists"):
        await hub.client.start_new("done", "taken")

    # And the instance is untouched
    await hub.client.raise_event("taken", "Go", 1)
    assert (await hub.ended("taken"))["output"] == "1"


@pytest.mark.parametrize("name", ["done", "fails", "waits"])
async def test_the_id_of_a_finished_instance_is_free_and_its_history_goes(
    hub: Hub, name: str
) -> None:
    # Given an instance that completed, failed or was terminated
    await hub.start(name, id="again")
    if name == "waits":
        await hub.client.terminate("again", "over")
    await hub.ended("again")

    # When its id is used again
    end = await hub.run("done", "new", "again")

    # Then the new run is all there is
    assert (end["name"], end["output"]) == ("done", "new")
    started, *_ = await hub.history("again")
    assert started["Generation"] == 1


async def test_the_status_of_a_finished_instance(hub: Hub) -> None:
    await hub.run("done", {"k": "v"}, "it")
    status = await hub.client.get_status("it", show_input=True, show_history=True)
    assert status.runtime_status is Status.Completed
    assert status.output == {"k": "v"}
    assert status.input_ == '{"k": "v"}'
    assert status.created_time <= status.last_updated_time


async def test_the_status_of_an_unknown_instance_is_empty(hub: Hub) -> None:
    assert not await hub.client.get_status("nosuch")


async def test_raising_an_event_needs_an_instance_that_is_not_over(hub: Hub) -> None:
    with pytest.raises(Exception, match="No instance with ID nosuch found"):
        await hub.client.raise_event("nosuch", "Go", 1)
    await hub.run("done", id="over")
    with pytest.raises(Exception, match="Instance with ID over is gone"):
        await hub.client.raise_event("over", "Go", 1)


async def test_terminating_ends_an_instance_with_the_reason(hub: Hub) -> None:
    await hub.start("waits", id="it")
    await hub.waiting("it")
    await hub.client.terminate("it", "enough of it")
    end = await hub.ended("it")
    assert (end["runtimeStatus"], end["output"]) == ("Terminated", "enough of it")
    kinds = [event["EventType"] for event in await hub.history("it")]
    assert kinds == ["ExecutionStarted", "ExecutionTerminated", "ExecutionCompleted"]


@pytest.mark.parametrize("operation", ["terminate", "suspend", "resume"])
async def test_operations_need_an_instance_but_may_come_late(hub: Hub, operation: str) -> None:
    with pytest.raises(Exception, match="No instance with ID 'nosuch' found"):
        await getattr(hub.client, operation)("nosuch", "why")
    await hub.run("done", id="over")
    await getattr(hub.client, operation)("over", "why")


async def test_a_suspended_instance_keeps_events_until_it_is_resumed(hub: Hub) -> None:
    # Given a suspended instance
    await hub.start("waits", id="it")
    await hub.waiting("it")
    await hub.client.suspend("it", "hold on")
    await hub.waiting("it", calls=2)
    status = await hub.status("it")
    assert (status["runtimeStatus"], status["output"]) == ("Suspended", "hold on")

    # When the event comes that it waits for, nothing happens
    await hub.client.raise_event("it", "Go", 1)
    await hub.waiting("it", calls=3)
    assert (await hub.status("it"))["runtimeStatus"] == "Suspended"

    # Then it is resumed, and ends
    await hub.client.resume("it", "go on")
    end = await hub.ended("it")
    assert (end["runtimeStatus"], end["output"]) == ("Completed", "1")
    kinds = [event["EventType"] for event in await hub.history("it")]
    assert kinds[1:] == [
        "ExecutionSuspended",
        "EventRaised",
        "ExecutionResumed",
        "ExecutionCompleted",
    ]


async def test_a_suspended_instance_schedules_nothing(make_hub: MakeHub) -> None:
    # Given a suspended orchestration that calls an activity after an event
    def echo(value: Any) -> Any:
        return value

    def calls(context: df.DurableOrchestrationContext) -> Any:
        yield context.wait_for_external_event("Go")
        result = yield context.call_activity("echo", "called")
        return result

    hub = await make_hub(calls, activities=[echo])
    await hub.start("calls", id="it")
    await hub.waiting("it")
    await hub.client.suspend("it", "hold on")
    await hub.waiting("it", calls=2)

    # When the event comes, the activity is not called
    await hub.client.raise_event("it", "Go", 1)
    await hub.waiting("it", calls=3)
    assert hub.functions.activity_calls == []

    # Then it is, once resumed
    await hub.client.resume("it", "go on")
    assert (await hub.ended("it"))["output"] == "called"


async def test_restarting_repeats_with_the_same_input(hub: Hub) -> None:
    await hub.run("done", {"k": "v"}, "it")
    same = await hub.client.restart("it", restart_with_new_instance_id=False)
    other = await hub.client.restart("it")
    assert same["id"] == "it"
    assert len(other["id"]) == 32
    for links in (same, other):
        assert (await hub.ended(links["id"]))["output"] == {"k": "v"}
    with pytest.raises(Exception, match="unexpected status code 400"):
        await hub.client.restart("nosuch")


async def test_purging_forgets_one_finished_instance(hub: Hub) -> None:
    await hub.run("done", id="it")
    assert (await hub.client.purge_instance_history("it")).instances_deleted == 1
    assert (await hub.client.purge_instance_history("it")).instances_deleted == 0
    assert not await hub.client.get_status("it")


async def test_purging_by_status_and_time_forgets_finished_instances(hub: Hub) -> None:
    # Given instances of three kinds
    await hub.run("done", id="completed")
    await hub.run("fails", id="failed")
    await hub.start("waits", id="running")
    await hub.waiting("running")
    hour_ago = datetime.now(UTC) - timedelta(hours=1)

    async def purge(**how: Any) -> int:
        return int((await hub.client.purge_instance_history_by(**how)).instances_deleted)

    # Then only those are forgotten that fit and are over
    assert await purge(created_time_from=hour_ago, created_time_to=hour_ago) == 0
    assert await purge(created_time_from=hour_ago, runtime_status=[Status.Failed]) == 1
    assert await purge(created_time_from=hour_ago) == 1
    assert [one.instance_id for one in await hub.client.get_status_all()] == ["running"]


async def test_lists_are_filtered(hub: Hub) -> None:
    # Given two finished instances, one of them failed, and one that waits
    await hub.run("done", id="a-done")
    await hub.run("fails", id="b-failed")
    await hub.start("waits", id="b-waits")
    await hub.waiting("b-waits")
    hour = timedelta(hours=1)

    async def ids(**how: Any) -> list[str]:
        return [one.instance_id for one in await hub.client.get_status_by(**how)]

    assert await ids(runtime_status=[Status.Failed]) == ["b-failed"]
    assert await ids(runtime_status=[Status.Running, Status.Completed]) == ["a-done", "b-waits"]
    assert await ids(runtime_status=[Status.Canceled]) == []
    assert await ids(instance_id_prefix="b-") == ["b-failed", "b-waits"]
    assert await ids(instance_id_prefix="B-") == []
    assert await ids(created_time_from=datetime.now(UTC) + hour) == []
    assert await ids(created_time_to=datetime.now(UTC) - hour) == []
    assert len(await ids(created_time_from=datetime.now(UTC) - hour)) == 3


def request(url: str) -> func.HttpRequest:
    return func.HttpRequest(method="POST", url=url, body=b"")


async def test_waiting_for_completion_answers_the_output(hub: Hub) -> None:
    await hub.start("done", [1, 2], "it")
    wait = hub.client.wait_for_completion_or_create_check_status_response
    answer = await wait(request(hub.url), "it", 5000, 50)
    assert (answer.status_code, answer.get_body()) == (200, b"[1, 2]")

    await hub.start("fails", id="bad")
    answer = await wait(request(hub.url), "bad", 5000, 50)
    assert answer.status_code == 500

    await hub.start("waits", id="slow")
    answer = await wait(request(hub.url), "slow", 100, 50)
    assert answer.status_code == 202


async def test_the_links_of_a_check_status_response_work(hub: Hub) -> None:
    # Given the links for a waiting instance
    await hub.start("waits", id="it")
    answer = hub.client.create_check_status_response(request(f"{hub.url}/api/start"), "it")
    links = hub.client.create_http_management_payload("it")
    assert answer.headers["Location"] == links["statusQueryGetUri"]

    # When the event is posted to the link, without any other key
    url = links["sendEventPostUri"].replace("{eventName}", "Go")
    async with hub.http.post(url, json={"n": 1}, headers={"x-functions-key": ""}) as posted:
        assert posted.status == 202

    # Then the status at its link shows it
    await hub.ended("it")
    async with hub.http.get(links["statusQueryGetUri"]) as status:
        assert (await status.json())["output"] == {"n": 1}


async def test_rewinding_is_refused_with_a_reason(hub: Hub) -> None:
    await hub.run("fails", id="it")
    with pytest.raises(Exception, match="Rewinding is not supported by the embedded durable"):
        await hub.client.rewind("it", "again")
