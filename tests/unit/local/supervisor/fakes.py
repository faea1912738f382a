"""Tiny parts that stand for the real ones, and the settings of a stack nobody else uses."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from local.supervisor.processes import Part
from local.supervisor.stack import Plan

LIVES = "import time; print('ready fake', flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {LIVES}"
DIES_AT_START = "import sys; print('no such table: Job'); sys.exit(3)"
NEVER_READY = "import time; print('warming up', flush=True); time.sleep(600)"


def fake_part(
    name: str = "fake", program: str = LIVES, start_seconds: float = 20.0, **environment: str
) -> Part:
    """A part that runs a Python program."""
    return Part(
        name=name,
        command=(sys.executable, "-I", "-S", "-c", program),
        environment={**os.environ, **environment},
        address="http://127.0.0.1:1",
        ready_line="ready fake",
        start_seconds=start_seconds,
    )


def plan_of(*steps: Sequence[Part]) -> Plan:
    """A plan with these steps, on any data folder."""
    return lambda _settings: steps


def wait_until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Poll until the condition holds; fails when it does not in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Whether a process lives; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
