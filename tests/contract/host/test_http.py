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
    kept: dict[str, Any] = json.loads((edges.data / "keys.json").read_text())
    return kept


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
    assert "The 'reserved' function is in error: The specified route conflicts" in log
    assert get(edges, "/echo").status == 200


def test_a_failed_call_is_logged_with_its_stack(edges: RunningHost) -> None:
    assert get(edges, "/araise").status == 500
    edges.wait_for_log("RuntimeError: async boom")
    assert "Executed 'Functions.araise' (Failed, Id=" in edges.logged()


def test_what_a_function_logs_is_passed_on_under_its_name(edges: RunningHost) -> None:
    get(edges, "/context")
    edges.wait_for_log("WARNING Function.in_context.User: user warning")


def test_a_function_sees_no_trace_and_no_retry(edges: RunningHost) -> None:
    traceparent = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    seen = json.loads(exchange(edges.port, "GET", "/context", [traceparent]).body)
    assert seen == {"function": "in_context", "trace": ["", "", {}], "retry": [0, 0]}


def test_custom_headers_are_on_every_answer(edges: RunningHost) -> None:
    for path in ("/", "/echo", "/nosuch"):
        assert get(edges, path).header("X-Cust") == "yes"


def test_the_hosts_server_name_gives_way_to_the_functions(edges: RunningHost) -> None:
    assert get(edges, "/echo").header("Server") == "Kestrel"
    answer = get(edges, "/resp/ownserver")
    assert (answer.header("Server"), answer.header("Date")) == ("mine", "never")


def test_a_content_length_of_the_function_is_passed_on(edges: RunningHost) -> None:
    answer = get(edges, "/resp/length")
    assert (answer.header("Content-Length"), answer.body) == ("1", b"x")
    assert answer.header("Transfer-Encoding") is None


def test_a_content_length_that_is_too_small_is_an_error(edges: RunningHost) -> None:
    assert get(edges, "/resp/tooshort").status == 500


def test_a_content_length_that_is_too_large_breaks_the_answer(edges: RunningHost) -> None:
    answer = get(edges, "/resp/toolong")
    assert (answer.header("Content-Length"), answer.body) == ("99", b"x")


def test_an_odd_status_goes_out_as_given(edges: RunningHost) -> None:
    answer = get(edges, "/resp/99")
    assert (answer.status, answer.reason, answer.body) == (99, "", b"odd")


def test_five_megabytes_go_both_ways(edges: RunningHost) -> None:
    body = b"\xff" * 5_000_000
    seen = json.loads(exchange(edges.port, "POST", "/echo", body=body).body)
    assert seen["body_len"] == len(body)
    assert len(get(edges, "/resp/big").body) == 5_000_000


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/item/" + "x" * 9000, [], 414),
        ("/echo", [("X-Big", "y" * 40_000)], 431),
        ("/echo", [("Content-Length", "200000000")], 500),
    ],
    ids=["path", "headers", "body"],
)
def test_requests_beyond_a_limit_are_refused(
    edges: RunningHost, path: str, headers: list[tuple[str, str]], status: int
) -> None:
    answer = exchange(edges.port, "GET", path, headers)
    assert (answer.status, answer.body) == (status, b"")


def test_a_missing_host_header_is_refused(edges: RunningHost) -> None:
    assert exchange(edges.port, "GET", "/echo", host=None).status == 400
    assert exchange(edges.port, "GET", "/echo", host="").status == 500
    assert send(edges.port, b"GET /echo HTTP/1.0\r\n\r\n").status == 500


def in_parallel(host: RunningHost, path: str, count: int) -> float:
    """Call one path from many threads at once; answers the seconds until the last one is back."""
    threads = [threading.Thread(target=get, args=(host, path)) for _ in range(count)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - started


def test_plain_functions_run_side_by_side(edges: RunningHost) -> None:
    assert 0.3 <= in_parallel(edges, "/sleep?seconds=0.3", 30) < 2


def test_async_functions_run_side_by_side(edges: RunningHost) -> None:
    assert 0.3 <= in_parallel(edges, "/together?seconds=0.3", 30) < 2


def test_an_async_function_that_blocks_holds_the_others_but_not_the_host(
    edges: RunningHost,
) -> None:
    # Given a function that blocks the worker's event loop
    blocking = threading.Thread(target=get, args=(edges, "/block?seconds=0.5"))
    started = time.monotonic()
    blocking.start()
    edges.wait_for_log("Executing 'Functions.block'")

    # When the host is asked something
    assert get(edges, "/admin/host/ping").status == 200
    answered = time.monotonic() - started
    blocking.join()

    # Then it answers meanwhile
    assert answered < 0.5
