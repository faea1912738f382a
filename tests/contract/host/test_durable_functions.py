"""Durable functions on a real host: the Python client, the web hooks, and a host that is killed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.host.hosts import APPS, DEADLINE_SECONDS, RunningHost, running_host
from tests.contract.host.raw_http import Answer, exchange
from tests.contract.waiting import wait_until

SETTINGS = {"HUB": "TestHub"}
HOOKS = "/runtime/webhooks/durabletask"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with running_host(APPS / "durable", tmp_path_factory.mktemp("durable"), SETTINGS) as host:
        yield host


def post(host: RunningHost, path: str, document: object) -> Answer:
    body = json.dumps(document).encode()
    own = f"localhost:{host.port}"
    return exchange(host.port, "POST", path, [("Content-Type", "application/json")], body, own)


def status(host: RunningHost, instance_id: str) -> dict[str, Any]:
    """The status as the client in a function sees it."""
    seen: dict[str, Any] = json.loads(exchange(host.port, "GET", f"/status/{instance_id}").body)
    return seen


def wait_for_end(host: RunningHost, instance_id: str) -> dict[str, Any]:
    wait_until(
        lambda: status(host, instance_id)["status"] not in (None, "Pending", "Running"),
        DEADLINE_SECONDS,
    )
    return status(host, instance_id)


def test_an_orchestration_calls_an_activity_and_waits_for_an_event(host: RunningHost) -> None:
    # Given an orchestration started by an HTTP function
    started = post(host, "/start/ask_then_wait/one", "hello")
    assert started.status == 202
    assert started.header("Retry-After") == "10"

    # When an event is raised through the client
    assert post(host, "/tell/one/Approved", {"by": "me"}).status == 202

    # Then it completes with what activity and event gave
    assert wait_for_end(host, "one") == {
        "status": "Completed",
        "output": ["HELLO!", {"by": "me"}],
    }


def test_the_links_of_a_started_instance_lead_to_its_status(host: RunningHost) -> None:
    # Given the links that a function answers with, at the origin that the caller used
    links = json.loads(post(host, "/start/ask_then_wait/two", "hi").body)
    origin = f"http://localhost:{host.port}"
    assert links["statusQueryGetUri"].startswith(f"{origin}{HOOKS}/instances/two?taskHub=TestHub")

    # Then the one for its status answers without any other key
    answer = exchange(host.port, "GET", links["statusQueryGetUri"].removeprefix(origin))
    assert answer.status == 202
    assert json.loads(answer.body)["name"] == "ask_then_wait"


def test_a_failing_activity_fails_its_orchestration_with_its_message(host: RunningHost) -> None:
    post(host, "/start/fail/three", None)
    end = wait_for_end(host, "three")
    assert end["status"] == "Failed"
    assert "Activity function 'boom' failed: ValueError: boom x" in end["output"]
    host.wait_for_log("Executed 'Functions.boom' (Failed, Id=")


def test_a_function_that_does_not_exist_can_not_be_orchestrated(host: RunningHost) -> None:
    post(host, "/start/nosuch/four", None)
    end = wait_for_end(host, "four")
    assert end["status"] == "Failed"
    assert "The function 'nosuch' doesn't exist, is disabled" in end["output"]
    assert "ask_then_wait" in end["output"]


def test_the_web_hooks_want_the_system_key_or_the_master_key(host: RunningHost) -> None:
    keys = json.loads((host.data / "keys.json").read_text())
    by_key = {
        "": 401,
        "nope": 401,
        keys["function"]: 403,
        keys["own"]["start"]: 403,
        keys["system"]: 200,
        keys["master"]: 200,
    }
    for key, expected in by_key.items():
        in_header = exchange(host.port, "GET", f"{HOOKS}/instances", [("x-functions-key", key)])
        in_query = exchange(host.port, "GET", f"{HOOKS}/instances?code={key}")
        assert (in_header.status, in_query.status) == (expected, expected)


def test_without_a_key_the_web_hooks_ask_for_one(host: RunningHost) -> None:
    for path in (f"{HOOKS}/instances", "/runtime/webhooks/nosuch"):
        answer = exchange(host.port, "GET", path)
        assert (answer.status, answer.header("WWW-Authenticate")) == (401, "Bearer")


def test_a_killed_host_goes_on_with_its_orchestrations(tmp_path: Path) -> None:
    # Given two orchestrations, one waiting for an event, one with an activity in flight
    with running_host(APPS / "durable", tmp_path, SETTINGS) as host:
        post(host, "/start/ask_then_wait/waiting", "hello")
        post(host, "/start/work_slowly/working", 0.5)
        host.wait_for_log("Executing 'Functions.take_a_while'")

        # When the host is killed and another one started
        host.kill()
    with running_host(APPS / "durable", tmp_path, SETTINGS) as host:
        post(host, "/tell/waiting/Approved", 1)

        # Then both complete, what had been done is not done again
        assert wait_for_end(host, "waiting")["output"] == ["HELLO!", 1]
        assert wait_for_end(host, "working")["output"] == ["FIRST!", "rested"]
        log = host.logged()
        assert log.count("Executed 'Functions.shout' (Succeeded") == 2


def test_a_foreign_store_is_a_host_error(tmp_path: Path) -> None:
    # Given a file that some other program wrote
    (tmp_path / "durable.sqlite3").write_text("something else")

    # When the host starts
    def wait(host: RunningHost) -> RunningHost:
        host.wait_for_log("A host error has occurred")
        return host

    # Then it says which file it can't use
    with running_host(APPS / "durable", tmp_path, SETTINGS, wait=wait) as host:
        assert "durable.sqlite3" in host.logged()
