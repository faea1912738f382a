"""The whole stack for a soak: a purge that is called all the time, and jobs in a closed loop."""

import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it ships no types
import requests

from benchmarks.hurried_purge import DAYS
from benchmarks.stack import CLIENT, EXTRACTOR, SLOTS, made_up_file
from benchmarks.watchers import NEW_EVENTS
from local.demo.file_service import FileService
from local.demo.registrations import register_extractor
from local.settings import LocalSettings
from local.supervisor.environment import (
    database_path,
    database_url,
    extraction_url,
    host_url,
)
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import ROOT, Part
from local.supervisor.stack import Stack
from shared.adapters.database import SqlDatabase, create_engine

IN_FLIGHT = 20
"""Jobs that are under way at any time: the next one comes when one has ended."""

PURGE_SECONDS = 5.0
END_SECONDS = 120.0
"""How long the next end of a job may take."""

LOOK_SECONDS = 0.01

TABLES = ("Job", "FileEvent", "Outbox")


@dataclass(frozen=True)
class Lap:
    """What some jobs took and left behind.

    Seconds in all, processor seconds and resident bytes at the end by process, rows by table.
    """

    jobs: int
    seconds: float
    processor_seconds: Mapping[str, float]
    resident_bytes: Mapping[str, int]
    rows: Mapping[str, int]


class Ends:
    """Counts the jobs whose success stands in the database.

    What is heard on the topic would not do: there the extractor is heard, not the service.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.close = self._connection.close
        self._seen = 0
        self._ended = 0

    def forget(self) -> None:
        """Count from none again."""
        self._look()
        self._ended = 0

    def wait_for(self, jobs: int) -> None:
        """Until so many have succeeded. Raises RuntimeError when none does for a long time."""
        deadline = time.monotonic() + END_SECONDS
        while self._ended < jobs:
            time.sleep(LOOK_SECONDS)
            if self._look():
                deadline = time.monotonic() + END_SECONDS
            elif time.monotonic() > deadline:
                raise RuntimeError(f"no job has succeeded for {END_SECONDS:.0f} s")

    def _look(self) -> int:
        found = self._connection.execute(NEW_EVENTS, (self._seen,)).fetchall()
        self._seen = found[-1][0] if found else self._seen
        ended: int = sum(json.loads(detail).get("status") == "Succeeded" for *_, detail in found)
        self._ended += ended
        return ended


@dataclass(frozen=True)
class SoakStack:
    """What runs."""

    settings: LocalSettings
    files: FileService
    ends: Ends
    processes: Mapping[str, psutil.Process]

    def run(self, jobs: int) -> Lap:
        """Run so many jobs, IN_FLIGHT at a time. Raises RuntimeError when one does not succeed."""
        self.ends.forget()
        files = [made_up_file() for _ in range(jobs)]
        for file in files:
            self.files.add_row(file, CLIENT)
        before, begun = self._processor_seconds(), time.perf_counter()
        for announced, file in enumerate(files, start=1):
            self.files.announce(file.file_id)
            self.ends.wait_for(announced - IN_FLIGHT + 1)
        self.ends.wait_for(jobs)
        seconds, after = time.perf_counter() - begun, self._processor_seconds()
        return Lap(
            jobs=jobs,
            seconds=seconds,
            processor_seconds={name: after[name] - before[name] for name in after},
            resident_bytes={name: each.memory_info().rss for name, each in self.processes.items()},
            rows=self._rows(),
        )

    def _processor_seconds(self) -> dict[str, float]:
        times = {name: each.cpu_times() for name, each in self.processes.items()}
        return {name: each.user + each.system for name, each in times.items()}

    def _rows(self) -> Mapping[str, int]:
        data = self.settings.data
        return {
            **_count(database_path(data), TABLES),
            **_count(data / "durable.sqlite3", ("instances", "history")),
        }


@contextmanager
def running_soak(folder: Path) -> Iterator[SoakStack]:
    """Start everything on free ports, with its data in `folder`, and end it."""
    settings = with_free_ports(folder / "data")
    app = _hurried_app(folder / "app")
    with ExitStack() as held:
        stack = held.enter_context(Stack(settings, plan=lambda given: _plan(given, app)))
        database = SqlDatabase(create_engine(database_url(settings)))
        held.callback(database.close)
        url = f"{extraction_url(settings)}?behaviour=instant"
        register_extractor(database, EXTRACTOR, CLIENT, url)
        files = held.enter_context(FileService(settings, database))
        ends = Ends(database_path(settings.data))
        held.callback(ends.close)
        held.enter_context(_purging(settings))
        processes = {name: psutil.Process(part.pid) for name, part in stack.parts.items()}
        yield SoakStack(settings, files, ends, processes)


def _hurried_app(folder: Path) -> Path:
    folder.mkdir()
    shutil.copy2(ROOT / "host.json", folder)
    (folder / "function_app.py").write_text("from benchmarks.hurried_purge import app\n")
    return folder


def _plan(settings: LocalSettings, app: Path) -> Sequence[Sequence[Part]]:
    purge = {"PURGE_AFTER_DAYS": str(DAYS), "PURGE_JOBS": "true"}
    steps = plan_embedded_azure(settings, {**SLOTS, **purge})
    return [[_with_app(part, app) for part in step] for step in steps]


def _with_app(part: Part, app: Path) -> Part:
    words = [str(app) if word == str(ROOT) else word for word in part.command]
    return replace(part, command=tuple(words))


@contextmanager
def _purging(settings: LocalSettings) -> Iterator[None]:
    """Start the purge again and again, as its timer does once a night."""
    ended = threading.Event()
    url = f"{host_url(settings)}/admin/functions/purge"
    keys = json.loads((settings.data / "keys.json").read_text())

    def purge() -> None:
        while not ended.wait(PURGE_SECONDS):
            headers = {"x-functions-key": keys["master"]}
            requests.post(url, json={}, headers=headers, timeout=END_SECONDS).raise_for_status()

    thread = threading.Thread(target=purge)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _count(path: Path, tables: Sequence[str]) -> Mapping[str, int]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        counts = {table: f"SELECT count(*) FROM {table}" for table in tables}
        return {table: connection.execute(sql).fetchone()[0] for table, sql in counts.items()}
