"""HTTP triggers and the host's own paths, beyond what is replayed from the recordings."""

import json
import threading
import time
from typing import Any

import pytest

from tests.contract.host.hosts import RunningHost
from tests.contract.host.raw_http import Answer, exchange, send


def get(host: RunningHost, path: str, key: str | None = None) -> Answer:
    return exchange(host.port, "GET", path, [("x-functions-key", key)] if key else None)


@pytest.fixture
def keys(edges: RunningHost) -> dict[str, Any]:
    """The keys that the host made at its first start."""
    return edges.keys()


def test_a_function_level_takes_its_own_key_the_hosts_and_the_master_key(
    edges: RunningHost, keys: dict[str, Any]
) -> None:
    for key in (keys["own"]["secret"], keys["function"], keys["master"]):
        assert get(edges, "/secret", key).status == 200
        assert get(edges, f"/secret?code={key}").status == 200


@pytest.mark.parametrize("key", [None, "nope"])
def test_without_a_right_key_a_function_answers_401_and_nothing_else(
    edges: RunningHost, key: str | None
) -> None:
    answer = get(edges, "/secret", key)
    assert (answer.status, answer.body) == (401, b"")


def test_an_admin_level_takes_the_master_key_only(edges: RunningHost, keys: dict[str, Any]) -> None:
    assert get(edges, "/adm", keys["function"]).status == 401
    assert get(edges, "/adm", keys["master"]).status == 200


def test_the_key_is_passed_on_to_the_function(edges: RunningHost, keys: dict[str, Any]) -> None:
    seen = json.loads(get(edges, "/secret", keys["master"]).body)
    assert seen["headers"]["x-functions-key"] == keys["master"]


def test_keys_never_reach_the_log(edges: RunningHost, keys: dict[str, Any]) -> None:
    get(edges, f"/secret?code={keys['function']}", keys["master"])
    assert not any(str(key) in edges.logged() for key in (keys["master"], keys["function"]))


def test_the_status_wants_the_master_key(edges: RunningHost, keys: dict[str, Any]) -> None:
    assert get(edges, "/admin/host/status").header("WWW-Authenticate") == "Bearer"
    status = json.loads(get(edges, "/admin/host/status", keys["master"]).body)
    assert status["state"] == "Running"
    assert "errors" not in status


def test_functions_are_listed_with_their_bindings(edges: RunningHost, keys: dict[str, Any]) -> None:
    listed = json.loads(get(edges, "/admin/functions", keys["master"]).body)
    one = json.loads(get(edges, "/admin/functions/item", keys["master"]).body)
    assert one in listed
    assert one["config"]["bindings"][0]["route"] == "item/{id}"
    assert get(edges, "/admin/functions/nosuch", keys["master"]).status == 404


def test_a_function_in_error_is_named_and_the_others_run(edges: RunningHost) -> None:
    log = edges.logged()
    assert "The 'dup_b' function is in error: The route specified conflicts" in log
    assert get(edges, "/echo").status == 200


def test_a_failed_call_is_logged_with_its_stack(edges: RunningHost) -> None:
    assert get(edges, "/araise").status == 500
    edges.wait_for_log("RuntimeError: async boom")
    assert "Executed 'Functions.araise' (Failed, Id=" in edges.logged()


def test_what_a_function_logs_is_passed_on_under_its_name(edges: RunningHost) -> None:
    get(edges, "/ctx")
    edges.wait_for_log("WARNING Function.ctxfn.User: user warning")


def test_custom_headers_are_on_every_answer(edges: RunningHost) -> None:
    for path in ("/", "/echo", "/nosuch"):
        assert get(edges, path).header("X-Cust") == "yes"


def test_a_content_length_that_is_too_large_breaks_the_answer(edges: RunningHost) -> None:
    answer = get(edges, "/resp/toolong")
    assert (answer.header("Content-Length"), answer.body) == ("99", b"x")


def test_a_missing_host_header_is_refused(edges: RunningHost) -> None:
    assert exchange(edges.port, "GET", "/echo", host=None).status == 400
    assert exchange(edges.port, "GET", "/echo", host="").status == 500
    assert send(edges.port, b"GET /echo HTTP/1.0\r\n\r\n").status == 500


def test_an_async_function_that_blocks_holds_the_others_but_not_the_host(
    edges: RunningHost,
) -> None:
    # Given a function that blocks the worker's event loop
    blocking = threading.Thread(target=get, args=(edges, "/ablock?s=0.5"))
    started = time.monotonic()
    blocking.start()
    edges.wait_for_log("Executing 'Functions.ablock'")

    # When the host is asked something
    assert get(edges, "/admin/host/ping").status == 200
    answered = time.monotonic() - started
    blocking.join()

    # Then it answers meanwhile
    assert answered < 0.5


def test_a_line_break_in_a_path_reaches_the_function(edges: RunningHost) -> None:
    answer = get(edges, "/item/a%0Ab")
    assert answer.status == 200
    assert json.loads(answer.body)["route_params"] == {"id": "a\nb"}
