"""What was done with the real host at its start, its end and in between, done again with ours."""

import http.client
import json
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.contract.host.brokers import free_port
from tests.contract.host.hosts import (
    APPS,
    EDGES_SETTINGS,
    RunningHost,
    running_host,
    wait_listening,
    wait_ready,
)
from tests.contract.host.raw_http import exchange
from tests.recordings import ANY

type Scenario = Callable[[Path, RunningHost], Any]
"""Answers what was seen, with a host of its own in the folder or with the one that tests share."""

STOP_SECONDS = 4.06
RELOAD_SECONDS = 1.5
"""The real host had reloaded an edited `host.json` by then."""

HELLO = """
import azure.functions as func
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)

@app.route(route="hello", methods=["GET"])
def hello(req: func.HttpRequest) -> str:
    return "hi V1"
"""
CONNECTION_ERRORS = (OSError, ValueError, http.client.HTTPException)


def overlap(port: int, path: str, count: int, seconds: float) -> dict[str, Any]:
    """How many of so many calls are in progress at once."""

    def call(_: int) -> Any:
        return json.loads(exchange(port, "GET", f"{path}?s={seconds}").body)

    with ThreadPoolExecutor(count) as pool:
        calls = list(pool.map(call, range(count)))
    most = max(sum(one["t0"] <= other["t0"] < one["t1"] for one in calls) for other in calls)
    return {"n": count, "wall_s": ANY, "max_overlap": most}


def startup(folder: Path, _: RunningHost) -> list[Any]:
    """What a host answers while it starts, and then."""
    paths = ("/", "/echo", "/nosuch", "/admin/host/ping")
    return _first_answers(APPS / "edges", folder, paths, wait_ready)


def error_state(folder: Path, _: RunningHost) -> list[Any]:
    """What a host in error answers while it starts, and then."""
    hooks = "/runtime/webhooks/durabletask/instances"
    paths = ("/hello", "/", "/admin/host/ping", "/admin/host/status", hooks)
    return _first_answers(_app(folder, host_json="{"), folder / "data", paths, wait_listening)


def error_attempts(folder: Path, _: RunningHost) -> int:
    """How often a host in error tries to start again."""
    with running_host(_app(folder, host_json="{"), folder / "data", wait=wait_listening) as host:
        time.sleep(RELOAD_SECONDS)
        return host.logged().count("A host error has occurred") - 1


def error_answer(folder: Path, _: RunningHost) -> list[Any]:
    """What a host in error answers to a call of a function."""
    with running_host(_app(folder, host_json="{"), folder / "data", wait=wait_listening) as host:
        answer = exchange(host.port, "GET", "/hello")
        headers = [[name.lower(), value] for name, value in answer.headers]
        own = ("date", "server", "connection")
        shown = sorted(header for header in headers if header[0] not in own)
        return [answer.status, shown, answer.body.decode()]


def own_keys(_: Path, edges: RunningHost) -> list[int | str]:
    """A function's own key opens it, another one's does not."""
    keys = edges.keys()["own"]
    return [_status(edges.port, f"/secret?code={keys[name]}") for name in ("secret", "echo")]


def stop(folder: Path, _: RunningHost) -> str:
    """How soon a host ends when it is interrupted."""
    with _edges(folder) as host:
        began = time.monotonic()
        host.process.send_signal(signal.SIGINT)
        host.process.wait()
        return (
            f"{'' if time.monotonic() - began <= STOP_SECONDS else 'not '}within {STOP_SECONDS} s"
        )


def leave(path: str) -> Scenario:
    """What the call of a function that leaves the process is answered."""

    def play(folder: Path, _: RunningHost) -> list[Any]:
        with _edges(folder) as host:
            return _answer(host, path)

    return play


def after(path: str) -> Scenario:
    """What the next call is answered."""

    def play(folder: Path, _: RunningHost) -> list[Any]:
        with _edges(folder) as host:
            _answer(host, path)
            return [[ANY, _status(host.port, "/echo")]]

    return play


def three_exits(folder: Path, _: RunningHost) -> list[Any]:
    """What becomes of a function that leaves the process again and again."""
    with _edges(folder) as host:
        return [
            {
                "exit": [_answer(host, "/exit")[0], ANY],
                "next_hello": [_status(host.port, "/echo"), ANY],
            }
            for _ in range(3)
        ]


def in_flight(folder: Path, _: RunningHost) -> list[Any]:
    """What a call in progress is answered when the worker ends."""
    with _edges(folder) as host, ThreadPoolExecutor() as pool:
        slow = pool.submit(_answer, host, "/sleep?s=20")
        host.wait_for_log("Executing 'Functions.ssleep'")
        _answer(host, "/exit")
        return slow.result()


def edited_code(folder: Path, _: RunningHost) -> list[Any]:
    """When an edited function is served."""
    app = _app(folder)
    with running_host(app, folder / "data") as host:
        look = lambda: _answer(host, "/api/hello")  # noqa: E731
        before = look()
        (app / "function_app.py").write_text(HELLO.replace("V1", "V2"))
        return _changes(before, look)


def edited_host_json(folder: Path, _: RunningHost) -> list[Any]:
    """When an edited route prefix is used."""
    app = _app(folder)
    with running_host(app, folder / "data") as host:
        look = lambda: [_status(host.port, path) for path in ("/api/hello", "/new/hello")]  # noqa: E731
        before = look()
        (app / "host.json").write_text('{"extensions": {"http": {"routePrefix": "new"}}}')
        return _changes(before, look)


def alive_after_edit(folder: Path, _: RunningHost) -> int | None:
    """Whether an edit ends the host."""
    app = _app(folder)
    with running_host(app, folder / "data") as host:
        (app / "function_app.py").write_text(HELLO.replace("V1", "V2"))
        time.sleep(RELOAD_SECONDS)
        return host.process.poll()


def restart_log(folder: Path, _: RunningHost) -> list[str]:
    """What the log says of an edit."""
    app = _app(folder)
    with running_host(app, folder / "data") as host:
        (app / "host.json").write_text('{"version": "2.0"}')
        time.sleep(RELOAD_SECONDS)
        return [line for line in host.logged().splitlines() if "change" in line.lower()]


AT_ONCE: dict[str, tuple[str, int, float]] = {
    "concurrency sync sleep 1s x2": ("/sleep", 2, 1),
    "concurrency sync sleep 1s x20": ("/sleep", 20, 1),
    "concurrency async sleep 1s x20": ("/asleep", 20, 1),
    "concurrency async def with blocking sleep 0.3 x5": ("/ablock", 5, 0.3),
}
"""Path, number of calls and the seconds that each takes."""

SCENARIOS: dict[str, Scenario] = {
    "startup": startup,
    "exit /exit": leave("/exit"),
    "after /exit": after("/exit"),
    "exit /aexit": leave("/aexit"),
    "after /aexit": after("/aexit"),
    "exit /hardexit": leave("/hardexit"),
    "after /hardexit": after("/hardexit"),
    "stop_s": stop,
    "own function keys tried -> statuses": own_keys,
    "worker exits, one after the other": three_exits,
    "in-flight call when worker dies": in_flight,
    "edit function_app.py": edited_code,
    "edit: process exit code": alive_after_edit,
    "edit host.json": edited_host_json,
    "restart log": restart_log,
    "error state": error_state,
    "error state: host start attempts in 25 s": error_attempts,
    "error state /hello full": error_answer,
}


@contextmanager
def _edges(folder: Path) -> Iterator[RunningHost]:
    with running_host(APPS / "edges", folder, EDGES_SETTINGS) as host:
        yield host


def _app(folder: Path, host_json: str = "{}") -> Path:
    app = folder / "app"
    app.mkdir()
    (app / "host.json").write_text(host_json)
    (app / "function_app.py").write_text(HELLO)
    return app


def _status(port: int, path: str) -> int | str:
    """The status, or the name of the error."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except CONNECTION_ERRORS as error:
        return type(error).__name__
    finally:
        connection.close()


def _answer(host: RunningHost, path: str) -> list[Any]:
    """Status and body, or the name of the error."""
    try:
        answer = exchange(host.port, "GET", path)
    except CONNECTION_ERRORS as error:
        return [type(error).__name__, ""]
    return [answer.status, answer.body.decode()]


def _first_answers(
    app: Path, data: Path, paths: tuple[str, ...], wait: Callable[[RunningHost], RunningHost]
) -> list[Any]:
    """What the paths answer before the host is ready, and then."""
    port = free_port()
    looks = []

    def look() -> None:
        looks.append([ANY, [[path, _status(port, path)] for path in paths]])

    def wait_and_look(host: RunningHost) -> RunningHost:
        look()
        wait(host)
        look()
        return host

    with running_host(app, data, EDGES_SETTINGS, port, wait_and_look):
        return looks


def _changes(before: Any, look: Callable[[], Any]) -> list[Any]:
    """What was seen before, and what is seen instead as soon as it is something else."""
    deadline = time.monotonic() + RELOAD_SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.05)
        if (now := look()) != before:
            return [[ANY, before], [ANY, now]]
    return [[ANY, before]]
