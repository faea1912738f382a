"""One stack for each data folder: a file lock that ends with the process that holds it."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from local.settings import LocalSettings
from local.supervisor.environment import host_url


@dataclass(frozen=True)
class Running:
    """A stack that runs: its supervisor's process id and where its parts are."""

    pid: int
    settings: LocalSettings

    def __str__(self) -> str:
        return f"process {self.pid}, {host_url(self.settings)}, data in {self.settings.data}"


class AlreadyRunningError(Exception):
    """Another supervisor holds the data folder. The text names it."""


def lock_path(data: Path) -> Path:
    return data / "lock"


@contextmanager
def hold(settings: LocalSettings) -> Iterator[None]:
    """Hold the data folder, which must exist. Raises AlreadyRunningError."""
    with lock_path(settings.data).open("a+") as file:
        if not _take(file):
            holder = find_running(settings.data) or "its process id is not known yet"
            raise AlreadyRunningError(f"a stack is running already: {holder}")
        file.truncate(0)
        file.write(_describe(settings))
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def find_running(data: Path) -> Running | None:
    """The stack that holds a data folder, if one does."""
    try:
        with lock_path(data).open() as file:
            if _take(file):
                return None
            return _read(file.read())
    except FileNotFoundError:
        return None


def _take(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _describe(settings: LocalSettings) -> str:
    return json.dumps({"pid": os.getpid(), **asdict(settings), "data": str(settings.data)})


def _read(text: str) -> Running | None:
    if not text:
        return None
    values = json.loads(text)
    pid, data = values.pop("pid"), Path(values.pop("data"))
    return Running(pid, LocalSettings(data=data, **values))
