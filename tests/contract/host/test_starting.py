"""How the host starts, what keeps it from running, and how it stops."""

import json
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.contract.host.hosts import (
    RunningHost,
    running_host,
    start_host,
    wait_listening,
)
from tests.contract.host.raw_http import exchange

HELLO = """
import azure.functions as func
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)

@app.route(route="hello", methods=["GET"])
def hello(req: func.HttpRequest) -> str:
    return "hi"
"""
ON_MESSAGE = """
@app.service_bus_topic_trigger("msg", "SB", "%TOPIC%", "sub")
def on_msg(msg: func.ServiceBusMessage) -> None: ...
"""


def make_app(folder: Path, code: str | None, host_json: str = "{}", **settings: str) -> Path:
    """An app folder with this code, host.json and app settings."""
    folder.mkdir()
    (folder / "host.json").write_text(host_json)
    (folder / "local.settings.json").write_text(json.dumps({"Values": settings}))
    if code is not None:
        (folder / "function_app.py").write_text(code)
    return folder


def get(host: RunningHost, path: str, key: str = "") -> tuple[int, bytes]:
    answer = exchange(host.port, "GET", path, [("x-functions-key", key)])
    return answer.status, answer.body


@pytest.mark.parametrize(
    ("code", "host_json", "reason"),
    [
        ("import nosuchmodule", "{}", "No module named 'nosuchmodule'"),
        (HELLO + HELLO.partition("ANONYMOUS)")[2], "{}", "unique function name"),
        (None, "{}", "There is no function_app.py"),
        (HELLO, '{"version": "2.0"} // why', "host.json has comments"),
    ],
    ids=["import error", "two functions of one name", "no function_app.py", "comment"],
)
def test_an_app_that_can_not_be_indexed_runs_without_functions_and_says_why(
    tmp_path: Path, code: str | None, host_json: str, reason: str
) -> None:
    # Given an app that the worker can't index
    app = make_app(tmp_path / "app", code, host_json)

    # When the host has started
    with running_host(app, tmp_path / "data") as host:
        # Then it runs, every function is missing, and the log has the reason
        assert get(host, "/")[0] == 200
        assert get(host, "/api/hello") == (404, b"")
        assert "0 functions found" in host.logged()
        assert reason in host.logged()


@pytest.mark.parametrize(
    ("code", "settings", "reason"),
    [
        (HELLO + ON_MESSAGE, {"TOPIC": "jobs"}, "connection string 'SB' is missing or empty"),
        (
            HELLO + ON_MESSAGE,
            {"TOPIC": "jobs", "SB__fullyQualifiedNamespace": "x.servicebus.windows.net"},
            "'SB__fullyQualifiedNamespace' asks for an identity-based connection",
        ),
        (
            HELLO.replace('"hello"', '"odd/{id:nosuch}"'),
            {},
            "'id' - 'nosuch' could not be resolved",
        ),
    ],
    ids=["no connection", "identity", "unknown constraint"],
)
def test_a_host_error_answers_503_everywhere_but_ping_and_status(
    tmp_path: Path, code: str, settings: dict[str, str], reason: str
) -> None:
    # Given an app with something that stops the whole host
    app = make_app(tmp_path / "app", code, **settings)

    # When the host has started
    with running_host(app, tmp_path / "data", wait=wait_listening) as host:
        # Then it says so everywhere
        for path in ("/", "/api/hello", "/runtime/webhooks/durabletask/instances", "/nosuch"):
            assert get(host, path) == (503, b"Function host is not running.")
        assert get(host, "/admin/host/ping")[0] == 200

        # And the status has the reason
        master = json.loads((host.data / "keys.json").read_text())["master"]
        status = json.loads(get(host, "/admin/host/status", master)[1])
        assert status["state"] == "Error"
        assert reason in status["errors"][0]


def test_a_listener_that_can_not_start_leaves_the_rest_running(tmp_path: Path) -> None:
    # Given a connection string that can't be read, and a topic whose setting is missing
    second = ON_MESSAGE.replace("on_msg", "on_other").replace("%TOPIC%", "%NONE%")
    app = make_app(tmp_path / "app", HELLO + ON_MESSAGE + second, TOPIC="jobs", SB="nonsense")

    with running_host(app, tmp_path / "data") as host:
        # Then the log names both functions, and HTTP answers
        assert "The listener for function 'Functions.on_msg' was unable to start" in host.logged()
        assert "The 'on_other' function is in error: '%NONE%' does not resolve" in host.logged()
        assert get(host, "/api/hello") == (200, b"hi")


def test_the_environment_overrides_local_settings(tmp_path: Path) -> None:
    prefix = "AzureFunctionsJobHost__extensions__http__routePrefix"
    app = make_app(tmp_path / "app", HELLO, **{prefix: "from-file"})
    with running_host(app, tmp_path / "data", {prefix: "from-environment"}) as host:
        assert get(host, "/from-environment/hello") == (200, b"hi")


def test_only_the_listed_functions_are_loaded(tmp_path: Path) -> None:
    code = HELLO + HELLO.partition("ANONYMOUS)")[2].replace("hello", "other")
    app = make_app(tmp_path / "app", code, '{"functions": ["other"]}')
    with running_host(app, tmp_path / "data") as host:
        assert get(host, "/api/other") == (200, b"hi")
        assert get(host, "/api/hello") == (404, b"")


def test_a_call_that_outruns_the_function_timeout_is_answered_500(tmp_path: Path) -> None:
    slow = HELLO.replace('return "hi"', "import time; time.sleep(5)")
    app = make_app(tmp_path / "app", slow, '{"functionTimeout": "00:00:00.3"}')
    with running_host(app, tmp_path / "data") as host:
        assert get(host, "/api/hello") == (500, b"")
        host.wait_for_log("Timeout value of 0.3 s was exceeded by function: hello")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_host_though_a_call_is_running(
    tmp_path: Path, number: signal.Signals
) -> None:
    # Given a call that takes long
    slow = HELLO.replace('return "hi"', "import time; time.sleep(60)")
    app = make_app(tmp_path / "app", slow)
    with (
        running_host(app, tmp_path / "data") as host,
        socket.create_connection(("127.0.0.1", host.port)) as client,
    ):
        client.sendall(b"GET /api/hello HTTP/1.1\r\nHost: x\r\n\r\n")
        host.wait_for_log("Executing 'Functions.hello'")

        # When the host is told to end
        started = time.monotonic()
        host.process.send_signal(number)

        # Then it ends soon, and in order
        assert host.process.wait(timeout=5) == 0
        assert time.monotonic() - started < 2


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_that_ends_its_process_ends_the_host(tmp_path: Path, kind: str) -> None:
    # Given a function that leaves the process
    code = HELLO.replace('return "hi"', "import sys; sys.exit(3)").replace("def", kind)
    with running_host(make_app(tmp_path / "app", code), tmp_path / "data") as host:
        # When it is called
        with socket.create_connection(("127.0.0.1", host.port)) as client:
            client.sendall(b"GET /api/hello HTTP/1.1\r\nHost: x\r\n\r\n")

            # Then the host has ended, and says why
            assert host.process.wait(timeout=5) == 3
        assert "A function ended the process with SystemExit(3)" in host.logged()


def test_a_taken_port_ends_the_start_with_a_message(tmp_path: Path) -> None:
    app = make_app(tmp_path / "app", HELLO)
    with running_host(app, tmp_path / "data") as host:
        second = start_host(app, tmp_path / "other", port=host.port)
        with second.process:
            assert second.process.wait(timeout=10) == 1
        assert f"host cannot listen on 127.0.0.1:{host.port}" in second.logged()


def test_keys_survive_a_restart(tmp_path: Path) -> None:
    def key_file(host: RunningHost) -> Any:
        return json.loads((host.data / "keys.json").read_text())

    app = make_app(tmp_path / "app", HELLO)
    with running_host(app, tmp_path / "data") as host:
        first = key_file(host)
    with running_host(app, tmp_path / "data") as host:
        assert key_file(host) == first
