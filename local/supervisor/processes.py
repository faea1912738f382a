"""One part of the embedded Azure as a process: started, watched, ended."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from local.supervisor.log import Log

ROOT = Path(__file__).parents[2]
"""The repository: every part runs there."""

_TIE = Path(__file__).with_name("tied.py")
_HOW = "prctl" if sys.platform == "linux" else "pipe"

# The kernel ends a tied process with the *thread* that started it: this one lives to the end.
_starter = ThreadPoolExecutor(1, "starter")


@dataclass(frozen=True)
class Part:
    """What runs, where it is reached, and the start of the line by which it says it is ready."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    address: str
    ready_line: str
    start_seconds: float = 30.0


class PartFailedError(Exception):
    """A part did not start. The text names it and ends with the last lines of its log."""


class PartProcess:
    """A part and the process that it runs as; it can be started again after it has ended."""

    def __init__(self, part: Part, log: Log, how: str = _HOW) -> None:
        self.part = part
        self.log = log
        self.wanted = False
        self.on_ready: Callable[[PartProcess], None] = lambda _: None
        self._how = how
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._ready = threading.Event()
        self._launched_at = 0.0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Negative for the signal that ended it; None while it runs."""
        return self._process.poll() if self._process else None

    @property
    def seconds_since_launch(self) -> float:
        return time.monotonic() - self._launched_at

    def start(self) -> None:
        """Launch and wait until ready. Raises PartFailedError."""
        self.launch()
        self.await_ready()

    def launch(self) -> None:
        """Start the process without waiting. Raises RuntimeError when it runs already."""
        if self.alive:
            raise RuntimeError(f"{self.part.name} runs already, as process {self.pid}")
        self._ready.clear()
        self.wanted = True
        self._launched_at = time.monotonic()
        self.log.begin(f"--- {self.part.name} started {time.strftime('%Y-%m-%d %H:%M:%S')}")
        self._process = _starter.submit(self._spawn).result()
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def await_ready(self) -> None:
        """Wait for the ready line. Raises PartFailedError when it dies or takes too long."""
        while not self.check_ready():
            time.sleep(0.02)

    def check_ready(self) -> bool:
        """Whether it is ready yet. Raises PartFailedError when it will not be."""
        if self._ready.is_set():
            return True
        if not self.alive:
            raise PartFailedError(self._failure(f"ended with {self.describe_end()}"))
        if self.seconds_since_launch > self.part.start_seconds:
            raise PartFailedError(
                self._failure(f"was not ready after {self.part.start_seconds:.0f} s")
            )
        return False

    def describe_end(self) -> str:
        """How the process ended, in words."""
        code = self.exit_code
        if code is None or code >= 0:
            return f"exit code {code}"
        return f"signal {signal.Signals(-code).name}"

    def kill(self) -> None:
        """End it as a crash would (SIGKILL, with whatever it started) and wait until it is gone."""
        self.wanted = False
        self._signal(signal.SIGKILL)
        self.wait(None)

    def stop(self, grace_seconds: float = 3.0) -> None:
        """Ask it to end, wait, and kill it when it has not by then."""
        self.ask_to_end()
        self.wait(time.monotonic() + grace_seconds)
        self.kill()

    def ask_to_end(self) -> None:
        """Send SIGTERM and return at once."""
        self.wanted = False
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)  # a paused process would not see it

    def wait(self, deadline: float | None) -> None:
        """Until it has ended or the deadline (on the monotonic clock) has passed."""
        if self._process:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(left)
                self._finish_log()

    def pause(self) -> None:
        """Freeze it (SIGSTOP): it keeps its ports and answers nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on (SIGCONT)."""
        self._signal(signal.SIGCONT)

    def _spawn(self) -> subprocess.Popen[bytes]:
        tie = [sys.executable, "-I", "-S", str(_TIE), self._how, str(os.getpid())]
        return subprocess.Popen(
            [*tie, *self.part.command],
            cwd=ROOT,
            env=dict(self.part.environment),
            stdin=subprocess.PIPE if self._how == "pipe" else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches the supervisor only, which ends the parts
        )

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as output:
            for line in output:
                text = line.decode(errors="replace").rstrip("\r\n")
                self.log.write(text)
                if text.startswith(self.part.ready_line) and not self._ready.is_set():
                    self._ready.set()
                    self.on_ready(self)

    def _finish_log(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
        if self._reader:
            self._reader.join(1)

    def _signal(self, number: signal.Signals) -> None:
        if self.alive and self._process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _failure(self, what: str) -> str:
        if not self.alive:
            self._finish_log()
        return f"{self.part.name} {what}; {self.log.last_words()}"
