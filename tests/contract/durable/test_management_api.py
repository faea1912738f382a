"""The web hooks by plain HTTP: status codes, headers and bodies as recorded."""

import re
from typing import Any

import aiohttp
import azure.durable_functions as df
import pytest

from tests.contract.durable.conftest import MakeHub
from tests.contract.durable.hub import HUB, KEY, Hub


def done(context: df.DurableOrchestrationContext) -> Any:
    return context.get_input()


def calls(context: df.DurableOrchestrationContext) -> Any:
    first = yield context.call_activity("echo", 1)
    yield context.call_sub_orchestrator("done", first, f"{context.instance_id}-child")
    return "done"


def fails(context: df.DurableOrchestrationContext) -> Any:
    raise RuntimeError("no good")


def waits(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.wait_for_external_event("Go")
    return result


def echo(value: Any) -> Any:
    return value


@pytest.fixture
async def hub(make_hub: MakeHub) -> Hub:
    """A hub with the instances finished, failed and waiting."""
    hub = await make_hub(done, calls, fails, waits, activities=[echo])
    await hub.run("calls", {"k": "v"}, "finished")
    await hub.run("fails", id="failed")
    await hub.start("waits", id="waiting")
    await hub.waiting("waiting")
    return hub


class Answer:
    """A whole answer: status, headers, and the body as JSON, None when there is none."""

    def __init__(self, response: aiohttp.ClientResponse, document: Any) -> None:
        self.status = response.status
        self.headers = response.headers
        self.document = document


async def call(hub: Hub, method: str, path: str, **options: Any) -> Answer:
    async with hub.http.request(method, path, **options) as response:
        body = await response.read()
        return Answer(response, await response.json(content_type=None) if body else None)


async def test_calls_need_the_key(hub: Hub) -> None:
    for headers in ({"x-functions-key": ""}, {"x-functions-key": "wrong"}):
        for path in ("instances/finished", "nosuch"):
            answer = await call(hub, "GET", path, headers=headers)
            assert (answer.status, answer.document) == (401, None)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    in_query = await call(
        hub, "GET", "instances/finished", params={"code": KEY}, headers={"x-functions-key": ""}
    )
    assert in_query.status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "nosuch"),
        ("GET", "orchestrators/done"),
        ("PUT", "instances/finished"),
        ("HEAD", "instances/finished"),
        ("GET", "instances/FINISHED"),
        ("POST", "instances/waiting/raiseEvent/a/b"),
        ("POST", "instances/waiting/raiseEvent"),
        ("GET", "instances/waiting/raiseEvent/Go"),
        ("POST", "instances/waiting/nosuch"),
        ("POST", "orchestrators/done/a/b"),
        ("GET", "instances/finished?taskHub=OtherHub"),
    ],
)
async def test_what_is_not_there_is_an_empty_404(hub: Hub, method: str, path: str) -> None:
    answer = await call(hub, method, path)
    assert (answer.status, answer.document) == (404, None)


async def test_starting_answers_202_with_the_links(hub: Hub) -> None:
    answer = await call(hub, "POST", "orchestrators/done/it", json={"a": 1})
    hooks = f"{hub.url}/runtime/webhooks/durabletask/instances/it"
    query = f"taskHub={HUB}&connection=Storage&code={KEY}"
    assert answer.status == 202
    assert answer.headers["Retry-After"] == "10"
    assert answer.headers["Location"] == f"{hooks}?{query}"
    assert answer.document == {
        "id": "it",
        "statusQueryGetUri": f"{hooks}?{query}",
        "sendEventPostUri": f"{hooks}/raiseEvent/{{eventName}}?{query}",
        "terminatePostUri": f"{hooks}/terminate?reason={{text}}&{query}",
        "purgeHistoryDeleteUri": f"{hooks}?{query}",
        "restartPostUri": f"{hooks}/restart?{query}",
        "suspendPostUri": f"{hooks}/suspend?reason={{text}}&{query}",
        "resumePostUri": f"{hooks}/resume?reason={{text}}&{query}",
    }
    end = await hub.ended("it")
    assert (end["input"], end["output"]) == ({"a": 1}, {"a": 1})


async def test_a_plus_in_an_id_is_a_blank(hub: Hub) -> None:
    answer = await call(hub, "POST", "orchestrators/done/A+B", json={})
    assert answer.document["id"] == "A B"
    assert "/instances/A+B?" in answer.document["statusQueryGetUri"]


async def test_starting_under_an_id_in_use_is_409(hub: Hub) -> None:
    answer = await call(hub, "POST", "orchestrators/done/waiting", json={})
    assert answer.status == 409
    assert answer.document == {
        "Message": "An Orchestration instance with the status Running already exists."
    }


@pytest.mark.parametrize("body", [b"hello", b"{a:"])
async def test_an_input_that_is_not_json_is_400(hub: Hub, body: bytes) -> None:
    answer = await call(hub, "POST", "orchestrators/done", data=body)
    assert answer.status == 400
    assert answer.document["Message"] == "Invalid JSON content"
    assert set(answer.document) == {
        "Message",
        "ExceptionMessage",
        "ExceptionType",
        "StackTrace",
    }


async def test_a_plain_text_as_input_can_not_be_read_by_a_python_orchestrator(hub: Hub) -> None:
    await call(hub, "POST", "orchestrators/done/it", json="hello")
    end = await hub.ended("it")
    assert (end["runtimeStatus"], end["input"]) == ("Failed", "hello")
    assert "Expecting value: line 1 column 1 (char 0)" in end["output"]


async def test_a_start_can_wait_for_the_end(hub: Hub) -> None:
    wait = {"timeout": "5", "pollingInterval": "0.1"}
    answer = await call(hub, "POST", "orchestrators/done", json={"a": 1}, params=wait)
    assert (answer.status, answer.document) == (200, {"a": 1})
    answer = await call(hub, "POST", "orchestrators/fails", json={}, params=wait)
    assert (answer.status, answer.document["runtimeStatus"]) == (200, "Failed")
    wait["timeout"] = "0.1"
    assert (await call(hub, "POST", "orchestrators/waits", json={}, params=wait)).status == 202


async def test_the_status_of_a_running_instance_is_202_and_says_where_to_look_again(
    hub: Hub,
) -> None:
    answer = await call(hub, "GET", "instances/waiting/", params={"showInput": "true"})
    assert answer.status == 202
    assert answer.headers["Retry-After"] == "5"
    assert answer.headers["Location"].endswith("/instances/waiting/?showInput=true")
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"


async def test_a_status_document_has_the_recorded_members(hub: Hub) -> None:
    answer = await call(hub, "GET", "instances/finished")
    times = [answer.document.pop(name) for name in ("createdTime", "lastUpdatedTime")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time) for time in times)
    assert answer.status == 200
    assert "Location" not in answer.headers
    assert answer.document == {
        "name": "calls",
        "instanceId": "finished",
        "runtimeStatus": "Completed",
        "input": '{"k": "v"}',
        "customStatus": None,
        "output": "done",
    }


async def test_failed_is_200_unless_asked_otherwise(hub: Hub) -> None:
    asked = {"returnInternalServerErrorOnFailure": "true"}
    assert (await call(hub, "GET", "instances/failed")).status == 200
    assert (await call(hub, "GET", "instances/failed", params=asked)).status == 500
    assert (await call(hub, "GET", "instances/finished", params=asked)).status == 200


async def test_the_input_is_left_out_when_asked(hub: Hub) -> None:
    status = await hub.status("finished", showInput="false", showHistory="true")
    assert status["input"] is None
    assert all("Input" not in event for event in status["historyEvents"])


async def test_a_history_shows_outputs_only_when_asked(hub: Hub) -> None:
    # Given the history of an activity and a child
    plain = (await hub.status("finished", showHistory="true"))["historyEvents"]
    full = await hub.history("finished")

    # Then what was scheduled is shown with its answer, without its result
    assert [event["EventType"] for event in plain] == [
        "ExecutionStarted",
        "TaskCompleted",
        "SubOrchestrationInstanceCompleted",
        "ExecutionCompleted",
    ]
    assert set(plain[1]) == {"EventType", "Timestamp", "ScheduledTime", "FunctionName", "Input"}
    assert plain[0]["Input"] == '"{\\"k\\": \\"v\\"}"'
    assert (plain[2]["FunctionName"], plain[2]["InstanceId"]) == ("done", "finished-child")

    # And with results when they are asked for
    assert [event.get("Result") for event in full] == [None, 1, 1, "done"]


async def test_a_flag_that_is_neither_true_nor_false_is_ignored(hub: Hub) -> None:
    assert "historyEvents" not in await hub.status("finished", showHistory="maybe")


@pytest.mark.parametrize("operation", ["terminate", "suspend", "resume", "raiseEvent/Go"])
async def test_operations_on_unknown_and_finished_instances(hub: Hub, operation: str) -> None:
    assert await hub.post(f"instances/nosuch/{operation}", {}) == 404
    assert await hub.post(f"instances/finished/{operation}", {}) == 410
    assert await hub.post(f"instances/failed/{operation}", {}) == 410


async def test_an_event_wants_json(hub: Hub) -> None:
    path = "instances/waiting/raiseEvent/Other"
    for options in ({"data": b"x"}, {"data": {"a": "1"}}, {"headers": {"Content-Type": "text/x"}}):
        answer = await call(hub, "POST", path, **options)
        assert answer.status == 400
        assert answer.document == {"Message": "Only application/json request content is supported"}
    json_type = {"Content-Type": "application/json; charset=utf-8"}
    for body in (b"", b"{a:"):
        answer = await call(hub, "POST", path, data=body, headers=json_type)
        assert (answer.status, answer.document["Message"]) == (400, "Invalid JSON content")
    answer = await call(hub, "POST", path, data=b"null", headers=json_type)
    assert (answer.status, answer.document) == (202, None)


async def test_suspending_twice_and_resuming_a_running_instance_are_500(hub: Hub) -> None:
    # Given an instance that runs, resuming it is an error
    answer = await call(hub, "POST", "instances/waiting/resume")
    assert answer.status == 500
    assert answer.document["ExceptionMessage"] == (
        "Cannot resume the orchestration instance waiting because instance is in the Running state."
    )

    # And so is suspending it twice
    assert await hub.post("instances/waiting/suspend", reason="my reason") == 202
    await hub.waiting("waiting", calls=2)
    answer = await call(hub, "POST", "instances/waiting/suspend")
    assert answer.status == 500
    assert answer.document["ExceptionMessage"] == (
        "Cannot suspend the orchestration instance waiting because instance is in the Suspended "
        "state."
    )

    # And the reason stays visible after resuming
    assert await hub.post("instances/waiting/resume", reason="back") == 202
    await hub.waiting("waiting", calls=3)
    status = await hub.status("waiting")
    assert (status["runtimeStatus"], status["output"]) == ("Running", "back")


async def test_terminating_without_a_reason_leaves_no_output(hub: Hub) -> None:
    assert await hub.post("instances/waiting/terminate") == 202
    end = await hub.ended("waiting")
    assert (end["runtimeStatus"], end["output"]) == ("Terminated", None)
    assert await hub.post("instances/waiting/terminate") == 410


async def test_restarting(hub: Hub) -> None:
    # Given a waiting instance, only a new id can be used
    answer = await call(hub, "POST", "instances/waiting/restart")
    assert answer.status == 202
    assert len(answer.document["id"]) == 32
    same = {"restartWithNewInstanceId": "false"}
    answer = await call(hub, "POST", "instances/waiting/restart", params=same)
    assert answer.status == 409
    assert answer.document["Message"] == (
        "A non-terminal instance with this instance ID already exists."
    )

    # And an unknown one can't be restarted
    answer = await call(hub, "POST", "instances/nosuch/restart")
    assert answer.status == 400
    assert answer.document["ExceptionMessage"] == (
        "No instance with ID 'nosuch' was found. (Parameter 'instanceId')"
    )


async def test_rewinding(hub: Hub) -> None:
    answer = await call(hub, "POST", "instances/nosuch/rewind")
    assert (answer.status, answer.document) == (
        404,
        'No orchestration with instance ID "$nosuch" found.',
    )
    answer = await call(hub, "POST", "instances/finished/rewind")
    assert (answer.status, answer.document) == (
        412,
        "This orchestration has status Completed, but only orchestrations in the "
        '"Failed" state can be rewound.',
    )
    answer = await call(hub, "POST", "instances/failed/rewind")
    assert answer.status == 501


async def test_entities_are_refused_with_a_reason(hub: Hub) -> None:
    answer = await call(hub, "GET", "entities/counter/one")
    assert answer.status == 501
    assert "Entities are not supported" in answer.document


async def test_purging_one(hub: Hub) -> None:
    answer = await call(hub, "DELETE", "instances/finished")
    assert (answer.status, answer.document) == (200, {"instancesDeleted": 1})
    assert (await call(hub, "DELETE", "instances/finished")).status == 404
    answer = await call(hub, "DELETE", "instances/waiting")
    assert (answer.status, answer.document) == (
        412,
        "Only orchestrations in a terminal state can be purged, but the orchestration with "
        "instance ID waiting has status Running",
    )


async def test_purging_many_needs_a_beginning(hub: Hub) -> None:
    for filters in ({}, {"runtimeStatus": "Failed"}, {"createdTimeFrom": "zzz"}):
        answer = await call(hub, "DELETE", "instances", params=filters)
        assert (answer.status, answer.document) == (
            400,
            "Please provide value for 'createdTimeFrom' parameter.",
        )
    late = {"createdTimeFrom": "2099-01-01T00:00:00Z"}
    assert (await call(hub, "DELETE", "instances", params=late)).status == 404
    early = {"createdTimeFrom": "2020-01-01T00:00:00Z"}
    answer = await call(hub, "DELETE", "instances/", params=early)
    assert (answer.status, answer.document) == (200, {"instancesDeleted": 3})


ALL = ["failed", "finished", "finished-child", "waiting"]


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ("", ALL),
        ("runtimeStatus=Failed", ["failed"]),
        ("runtimeStatus=Failed,Running", ["failed", "waiting"]),
        ("runtimeStatus=failed", ALL),
        ("runtimeStatus=Nope", ALL),
        ("instanceIdPrefix=finished", ["finished", "finished-child"]),
        ("createdTimeFrom=2099-01-01T00:00:00Z", []),
        ("createdTimeTo=2000-01-01T00:00:00Z", []),
        ("createdTimeFrom=zzz", ALL),
        ("top=x", ALL),
        ("top=2", ALL[:2]),
        ("top=0", []),
    ],
)
async def test_lists_ignore_filters_that_they_cannot_read(
    hub: Hub, filters: str, ids: list[str]
) -> None:
    answer = await call(hub, "GET", f"instances?{filters}")
    assert answer.status == 200
    assert [one["instanceId"] for one in answer.document] == ids


async def test_lists_come_in_pages(hub: Hub) -> None:
    # Given pages of three
    ids, headers = [], {}
    for _ in range(2):
        answer = await call(hub, "GET", "instances?top=3", headers=headers)
        ids += [one["instanceId"] for one in answer.document]
        token = answer.headers.get("x-ms-continuation-token")
        headers = {"x-ms-continuation-token": token or ""}

    # Then two pages hold all of them, and the last one names no next
    assert ids == ALL
    assert token is None


async def test_a_list_holds_a_hundred_instances_unless_told(hub: Hub) -> None:
    for number in range(100):
        hub.engine.instances.start("done", f"many-{number:03}", "{}")
    answer = await call(hub, "GET", "instances?instanceIdPrefix=many")
    assert len(answer.document) == 100
    assert "x-ms-continuation-token" not in answer.headers
    answer = await call(hub, "GET", "instances")
    assert len(answer.document) == 100
    assert "x-ms-continuation-token" in answer.headers


async def test_a_bad_continuation_token_gives_an_empty_list(hub: Hub) -> None:
    answer = await call(hub, "GET", "instances", headers={"x-ms-continuation-token": "?!"})
    assert (answer.status, answer.document) == (200, [])


async def test_a_negative_page_size_is_500(hub: Hub) -> None:
    assert (await call(hub, "GET", "instances?top=-1")).status == 500


async def test_an_unknown_connection_is_500(hub: Hub) -> None:
    answer = await call(hub, "GET", "instances/finished?connection=Nope")
    assert answer.status == 500
    assert answer.document["ExceptionMessage"] == (
        "Unable to resolve the Azure Storage connection named 'Nope'."
    )
