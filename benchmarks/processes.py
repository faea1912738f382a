"""A host, or a bare web server to compare it with, as a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it ships no types


@dataclass(frozen=True)
class Server:
    """A process that listens on 127.0.0.1; `ready_seconds` passed until it did."""

    process: psutil.Process
    port: int
    data: Path
    ready_seconds: float

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def resident_megabytes(self) -> float:
        """Memory that it occupies by now."""
        return float(self.process.memory_info().rss / 2**20)

    def processor_seconds(self) -> float:
        """Processor time that it has taken so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def system_key(self) -> str:
        """What opens a host's durable web hooks."""
        return str(json.loads((self.data / "keys.json").read_text())["system"])


@contextmanager
def running_host(folder: Path, code: str) -> Iterator[Server]:
    """The local host with an app of this code, quiet and with the log in its data folder."""
    app, data = folder / "app", folder / "data"
    app.mkdir(parents=True, exist_ok=True)
    data.mkdir(exist_ok=True)
    (app / "function_app.py").write_text(code)
    (app / "host.json").write_text(
        '{"version": "2.0", "extensions": {"http": {"routePrefix": ""}}}'
    )
    command = ["-m", "local.host", "--app", str(app), "--port", "0", "--data", str(data)]
    with _running(command, data) as server:
        yield server


@contextmanager
def running_script(folder: Path, code: str) -> Iterator[Server]:
    """A server in a few lines; it prints `ready bare http://127.0.0.1:PORT`."""
    folder.mkdir(parents=True, exist_ok=True)
    with _running(["-c", code], folder) as server:
        yield server


@contextmanager
def running_module(folder: Path, *arguments: str) -> Iterator[Server]:
    """`python -m` with these arguments; it prints `ready NAME http://127.0.0.1:PORT`."""
    folder.mkdir(parents=True, exist_ok=True)
    with _running(["-m", *arguments], folder) as server:
        yield server


@contextmanager
def _running(arguments: Sequence[str], data: Path) -> Iterator[Server]:
    began = time.perf_counter()
    with (
        (data / "server.log").open("w") as log,
        subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "AzureWebJobsStorage": "local"},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready = next(line for line in process.stdout if line.startswith("ready "))
            seconds = time.perf_counter() - began
            yield Server(psutil.Process(process.pid), int(ready.rpartition(":")[2]), data, seconds)
        finally:
            process.kill()
