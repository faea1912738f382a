"""Starts a part again that has died."""

import threading
import time
from collections.abc import Callable, Mapping

from local.supervisor.processes import PartProcess

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
STEADY_SECONDS = 60.0
"""A part that lived this long has recovered: its next death counts as the first."""

POLL_SECONDS = 0.05


class Pauses:
    """How long to wait before a part is started again: twice as long after each death."""

    def __init__(self, first: float = FIRST_PAUSE) -> None:
        self._first = first
        self._next = first

    def after(self, lived_seconds: float) -> float:
        """The pause in seconds after a death at this age."""
        pause = self._first if lived_seconds > STEADY_SECONDS else self._next
        self._next = min(pause * 2, LONGEST_PAUSE)
        return pause


class Keeper:
    """Watches parts from a thread of its own. A part that was stopped on purpose stays stopped."""

    def __init__(self, parts: Mapping[str, PartProcess], announce: Callable[[str], None]) -> None:
        self._parts = parts
        self._announce = announce
        self._pauses = {name: Pauses() for name in parts}
        self._starts_at: dict[str, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        for process in self._parts.values():
            process.on_ready = self._say_back
        self._thread.start()

    def stop(self) -> None:
        """Watch no more: afterwards nothing is started again."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            for name, process in self._parts.items():
                if process.wanted and not process.alive:
                    self._tend(name, process)

    def _tend(self, name: str, process: PartProcess) -> None:
        if name not in self._starts_at:
            pause = self._pauses[name].after(process.seconds_since_launch)
            self._starts_at[name] = time.monotonic() + pause
            self._announce(
                f"{name} died ({process.describe_end()}); it is started again in {pause:.0f} s;"
                f" see {process.log.path}"
            )
        elif time.monotonic() >= self._starts_at[name]:
            del self._starts_at[name]
            process.launch()

    def _say_back(self, process: PartProcess) -> None:
        self._announce(f"{process.part.name} is back")
