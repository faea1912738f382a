"""Parts of the embedded Azure as processes of their own, for tests that talk to them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A running part: its process, and the URL that it announced."""

    process: subprocess.Popen[str]
    url: str


@contextmanager
def running_part(
    module: str, *arguments: object, environment: Mapping[str, str] | None = None
) -> Iterator[Part]:
    """Run `python -m MODULE ARGUMENTS` from its ready line on until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline().split()
            assert ready[:1] == ["ready"], f"{module} did not start"
            yield Part(process, ready[2])
        finally:
            process.kill()
