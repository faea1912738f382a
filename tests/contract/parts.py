"""Parts of the embedded Azure as processes of their own, for tests that talk to them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.contract.waiting import wait_until


@dataclass(frozen=True)
class Part:
    """A running part: its process, and the address that it announced."""

    process: subprocess.Popen[str]
    url: str


@contextmanager
def running_part(
    module: str, *arguments: object, environment: Mapping[str, str] | None = None
) -> Iterator[Part]:
    """Run `python -m MODULE ARGUMENTS` from its ready line on until the block ends."""
    with _running("-m", module, *map(str, arguments), environment=environment or {}) as process:
        assert process.stdout is not None
        ready = process.stdout.readline().split()
        assert ready[:1] == ["ready"], f"{module} did not start"
        yield Part(process, ready[2])


@contextmanager
def running_script(script: Path, port: int, environment: Mapping[str, str]) -> Iterator[None]:
    """Run a script that says nothing, from when it listens on the port until the block ends."""
    with _running(str(script), environment=environment):
        wait_until(lambda: _listens(port))
        yield


@contextmanager
def _running(*arguments: str, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0
