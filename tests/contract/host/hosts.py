"""Hosts as processes of their own, for tests that talk to them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contract.waiting import wait_until

APPS = Path(__file__).parent / "apps"
NO_BROKER = "Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=local;SharedAccessKey=local;"
EDGES_SETTINGS = {"AzureWebJobs.off.Disabled": "true", "TOPIC": "jobs", "SB": NO_BROKER}
"""What the app `edges` is told; its Service Bus is down."""
DEADLINE_SECONDS = 20.0


@dataclass
class RunningHost:
    """A host process; `log` is the file that its standard error goes to."""

    process: subprocess.Popen[str]
    data: Path
    log: Path
    url: str = ""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def logged(self) -> str:
        return self.log.read_text()

    def wait_for_log(self, text: str) -> None:
        wait_until(lambda: text in self.logged(), DEADLINE_SECONDS)

    def keys(self) -> dict[str, Any]:
        """The keys that the host made at its first start."""
        kept: dict[str, Any] = json.loads((self.data / "keys.json").read_text())
        return kept

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def start_host(
    app: Path, data: Path, environment: Mapping[str, str] | None = None, port: int = 0
) -> RunningHost:
    """Start a host on an app folder without waiting for it."""
    data.mkdir(parents=True, exist_ok=True)
    log = data / "host.log"
    command = [sys.executable, "-m", "local.host", "--app", str(app)]
    with log.open("a") as errors:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--data", str(data)],
            env={**os.environ, "AzureWebJobsStorage": "local", **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    return RunningHost(process, data, log)


def wait_ready(host: RunningHost) -> RunningHost:
    """Wait for the ready line and take the URL from it."""
    assert host.process.stdout is not None
    for line in host.process.stdout:
        if line.startswith("ready host "):
            host.url = line.split()[2]
            return host
    raise AssertionError(f"the host did not become ready:\n{host.logged()}")


def wait_listening(host: RunningHost) -> RunningHost:
    """Wait until a host that may be in error answers, and take the URL from its log."""
    host.wait_for_log("Listening on ")
    host.url = host.logged().partition("Listening on ")[2].split()[0]
    return host


@contextmanager
def running_host(
    app: Path,
    data: Path,
    environment: Mapping[str, str] | None = None,
    port: int = 0,
    wait: Callable[[RunningHost], RunningHost] = wait_ready,
) -> Iterator[RunningHost]:
    """A ready host until the block ends."""
    host = start_host(app, data, environment, port)
    with host.process:
        try:
            yield wait(host)
        finally:
            host.process.kill()
