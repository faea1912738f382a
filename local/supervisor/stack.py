"""All parts of the embedded Azure together: started in order, kept alive, ended at once."""

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from local.settings import LocalSettings
from local.supervisor.data import bring_up_to_date, make_folder
from local.supervisor.keeper import Keeper
from local.supervisor.lock import hold
from local.supervisor.log import Log, Show, show_nothing
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import check_ports
from local.supervisor.processes import Part, PartProcess

GRACE_SECONDS = 3.0
"""How long the parts may take to end by themselves."""

Plan = Callable[[LocalSettings], Sequence[Sequence[Part]]]
"""Prepares the data folder and tells which parts start together, step after step."""

Announce = Callable[[str], None]
"""Gets one line for people about what has just happened to a part."""


def announce_nothing(_line: str) -> None:
    """Who is not interested."""


class Stack:
    """The parts by name in `parts`, on one data folder that no other stack uses meanwhile.

    With `keep_alive` a part that dies is started again, after growing pauses; without it, it stays
    dead until `parts[name].start()`. As a context manager it starts and stops.
    """

    def __init__(
        self,
        settings: LocalSettings,
        *,
        plan: Plan = plan_embedded_azure,
        keep_alive: bool = False,
        announce: Announce = announce_nothing,
        show: Show = show_nothing,
    ) -> None:
        self.settings = settings
        self.parts: dict[str, PartProcess] = {}
        self._plan = plan
        self._keep_alive = keep_alive
        self._keeper: Keeper | None = None
        self._announce = announce
        self._show = show
        self._held = contextlib.ExitStack()

    @property
    def logs(self) -> Path:
        """The folder with one log for each part."""
        return self.settings.data / "logs"

    def start(self) -> None:
        """Start every part and wait until all are ready; when one fails, stop all and raise.

        Raises DataFolderError, AlreadyRunningError, PortsError or PartFailedError: expected
        problems, each with a text for people.
        """
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all parts at once: SIGTERM, three seconds at most, then SIGKILL. Can be repeated."""
        if self._keeper:
            self._keeper.stop()
        processes = list(self.parts.values())
        for process in processes:
            process.ask_to_end()
        deadline = time.monotonic() + GRACE_SECONDS
        for process in processes:
            process.wait(deadline)
        for process in processes:
            process.kill()
            process.log.close()
        self._held.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self) -> None:
        make_folder(self.settings.data)
        self._held.enter_context(hold(self.settings))
        bring_up_to_date(self.settings.data)
        check_ports(self.settings)
        for step in self._plan(self.settings):
            self._start_together([self._process(part) for part in step])
        if self._keep_alive:
            self._keeper = Keeper(self.parts, self._announce)
            self._keeper.start()

    def _process(self, part: Part) -> PartProcess:
        log = Log(part.name, self.logs / f"{part.name}.log", self._show)
        return self.parts.setdefault(part.name, PartProcess(part, log))

    def _start_together(self, processes: Sequence[PartProcess]) -> None:
        for process in processes:
            process.launch()
        waiting = list(processes)
        while waiting:
            time.sleep(0.02)
            for process in [each for each in waiting if each.check_ready()]:
                waiting.remove(process)
                self._announce(_ready(process))


def _ready(process: PartProcess) -> str:
    seconds = process.seconds_since_launch
    return f"{process.part.name:<11} {process.part.address:<24} ready after {seconds:.1f} s"
