"""Our host takes `host.json`, app settings and code as the real one did."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.contract.host.configurations import CONFIGURATIONS, Configuration
from tests.contract.host.hosts import RunningHost, running_host, wait_listening
from tests.contract.host.raw_http import exchange
from tests.recordings import ANY, blurred, replayed

RECORDED: Mapping[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("recorded_configurations.json").read_text()
)
PATHS = ("/", "/hello", "/pre/hello", "/api/hello", "/hello2", "/lead", "/bad/1", "/start/E1")
SHOWN_HEADERS = ("Content-Type", "Location", "Retry-After", "X-Cust")
SIDE_BY_SIDE = 4
"""Hosts that run at once: a start is mostly imports."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Future[Any]]]:
    """What a host with each configuration is seen to do."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        yield {
            name: pool.submit(observe, configuration, tmp_path_factory.mktemp(name), RECORDED[name])
            for name, configuration in CONFIGURATIONS.items()
        }
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(
    "name", replayed("host.json and settings", {name: name for name in RECORDED})
)
def test_a_configuration_is_taken_as_recorded(seen: Mapping[str, Future[Any]], name: str) -> None:
    # Given a configuration, when a host has started with it
    observed = seen[name].result()

    # Then what it answers, says of itself and logs is what was recorded
    assert blurred(observed, RECORDED[name]) == RECORDED[name]


def observe(configuration: Configuration, folder: Path, recorded: dict[str, Any]) -> dict[str, Any]:
    """Look at everything that is recorded."""
    app, data = folder / "app", folder / "data"
    configuration.write(app, data)
    with running_host(app, data, configuration.settings, wait=wait_listening) as host:
        looks: dict[str, Callable[[], Any]] = {
            "http": lambda: answers(host, recorded["http"]),
            "status": lambda: status(host)["state"],
            "error": lambda: named(recorded["error"], status(host)["errors"][0]),
            "functions": lambda: functions(host),
            "ticks": lambda: ticks(host, recorded["ticks"]),
            "slow": lambda: answer(host, "/slow")[:2],
            "after": lambda: answer(host, "/hello")[:2],
            "four_0.5s_calls": lambda: four_calls(host),
            "logged": lambda: [text for text in recorded["logged"] if text in host.logged()],
        }
        return {name: look() for name, look in looks.items() if name in recorded}


def answers(host: RunningHost, recorded: dict[str, Any]) -> dict[str, Any]:
    """Path by path; where everything is answered alike, the recording has it once, under `*`."""
    if "*" not in recorded:
        return {path: answer(host, path, len(found[1])) for path, found in recorded.items()}
    found = [answer(host, path) for path in PATHS]
    return {"*": found[0]} if all(each == found[0] for each in found) else {"*": found}


def answer(host: RunningHost, path: str, length: int | None = None) -> list[Any]:
    """Status, the body up to where the recording was cut, and headers when there are any."""
    got = exchange(host.port, "GET", path)
    body = got.body.decode() if path != "/" or got.status != 200 else ANY
    headers = [[name, hidden(value, host)] for name, value in got.headers if name in SHOWN_HEADERS]
    return [got.status, hidden(body, host)[:length], *([headers] if headers else [])]


def hidden(text: str, host: RunningHost) -> str:
    return text.replace(str(host.keys()["system"]), "<key>")


def status(host: RunningHost) -> dict[str, Any]:
    key = ("x-functions-key", str(host.keys()["master"]))
    document: dict[str, Any] = json.loads(
        exchange(host.port, "GET", "/admin/host/status", [key]).body
    )
    return document


def named(recorded: str, ours: str) -> str:
    """The recorded words when ours hold them; .NET writes its keys with other capitals."""
    return recorded if recorded.lower() in ours.lower() else ours


def functions(host: RunningHost) -> list[str]:
    found = re.search("Found the following functions: (.*)", host.logged())
    return sorted(found[1].split(", ")) if found and found[1] else []


def ticks(host: RunningHost, expected: bool) -> bool:
    line = "Executing 'Functions.tick'"
    if expected:
        host.wait_for_log(line)
    return line in host.logged()


def four_calls(host: RunningHost) -> float:
    """How many whole half seconds four calls of half a second take, 2.0 s at most."""
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: exchange(host.port, "GET", "/slow?s=0.5"), range(4)))
    return min((time.monotonic() - began) // 0.5 * 0.5, 2.0)
