"""The whole stack with an instant extractor: it runs jobs and tells what they took."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psutil  # type: ignore[import-untyped]  # it ships no types
import requests

from local.demo.file_service import StoredFile
from local.demo.registrations import register_extractor
from local.demo.status_service import Announcement
from local.demo.surroundings import Surroundings, surround
from local.supervisor.environment import extraction_url, host_url
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.stack import Stack
from shared.domain.jobs import ENDS, JobStatus

CLIENT, EXTRACTOR = "benchmark-client", 1000
SLOTS = {"EXTRACTOR_MAX_ACTIVE_JOBS": "10000"}
"""More than there are jobs: waiting for a slot of the extractor is not what is measured."""

ROUND_SECONDS = 600.0
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Round:
    """What a number of jobs took: seconds in all, and processor seconds of each process.

    `resident_bytes` is the memory of each process at the end.
    """

    jobs: int
    seconds: float
    processor_seconds: Mapping[str, float]
    resident_bytes: Mapping[str, int]

    @property
    def per_job(self) -> float:
        return self.seconds / self.jobs

    @property
    def processor_per_job(self) -> float:
        return sum(self.processor_seconds.values()) / self.jobs


class Ends:
    """Counts the ends that the Status service hears of."""

    def __init__(self) -> None:
        self._counts: Counter[JobStatus] = Counter()
        self._changed = threading.Condition()

    def hear(self, announcement: Announcement) -> None:
        """Takes every announcement."""
        if announcement.status in ENDS:
            with self._changed:
                self._counts[announcement.status] += 1
                self._changed.notify_all()

    def forget(self) -> None:
        """Count from none again."""
        with self._changed:
            self._counts.clear()

    def wait_for(self, jobs: int, seconds: float = ROUND_SECONDS) -> None:
        """Until so many jobs have succeeded. Raises RuntimeError when they don't."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._counts.total() >= jobs, seconds):
                raise RuntimeError(f"only {dict(self._counts)} of {jobs} jobs came to an end")
            if self._counts != {JobStatus.SUCCEEDED: jobs}:
                raise RuntimeError(f"not all of {jobs} jobs succeeded: {dict(self._counts)}")


class MeasuredStack:
    """Runs rounds of jobs, one after the other."""

    def __init__(self, stack: Stack, services: Surroundings, ends: Ends) -> None:
        self._services = services
        self._ends = ends
        self._processes = {
            name: psutil.Process(process.pid) for name, process in stack.parts.items()
        }
        self._http = requests.Session()
        self._instances = f"{host_url(stack.settings)}/runtime/webhooks/durabletask/instances"
        keys = json.loads((stack.settings.data / "keys.json").read_text())
        self._http.headers["x-functions-key"] = keys["master"]
        self.job_ids: list[UUID] = []
        """The jobs of all rounds."""

    def run(self, jobs: int) -> Round:
        """Announce so many stored files and wait until all is over.

        Raises RuntimeError when a job does not succeed.
        """
        files = [
            self._services.files.store(b"A note of 2024-01-31.", "note.txt", CLIENT)
            for _ in range(jobs)
        ]
        self._ends.forget()
        before = self._processor_seconds()
        begun = time.perf_counter()
        for file in files:
            self._services.files.announce(file.file_id)
        self._ends.wait_for(jobs)
        self._wait_for_orchestrations()
        seconds = time.perf_counter() - begun
        after = self._processor_seconds()
        self.job_ids += [file.job_id for file in files]
        return Round(
            jobs,
            seconds,
            {name: after[name] - before[name] for name in after},
            {name: each.memory_info().rss for name, each in self._processes.items()},
        )

    def activities(self) -> int:
        """Activities of all jobs so far, counted from the histories of their orchestrations."""
        return sum(self._activities_of(job_id) for job_id in self.job_ids)

    def _activities_of(self, job_id: UUID) -> int:
        answer = self._http.get(f"{self._instances}/{job_id}", params={"showHistory": "true"})
        return count_activities(answer.json()["historyEvents"])

    def _wait_for_orchestrations(self) -> None:
        deadline = time.monotonic() + ROUND_SECONDS
        while live := self._live_orchestrations():
            if time.monotonic() > deadline:
                raise RuntimeError(f"orchestrations are still live, such as {live[0]}")
            time.sleep(POLL_SECONDS)

    def _live_orchestrations(self) -> list[Any]:
        found: list[Any] = self._http.get(
            self._instances, params={"runtimeStatus": "Pending,Running", "top": "1"}
        ).json()
        return found

    def _processor_seconds(self) -> dict[str, float]:
        times = {name: each.cpu_times() for name, each in self._processes.items()}
        return {name: each.user + each.system for name, each in times.items()}


def made_up_file() -> StoredFile:
    """A file of its own, for a row. Nothing is stored: for extractors that don't look into it."""
    file_id = uuid4()
    return StoredFile(file_id, "note.txt", uuid4().hex, f"{file_id}/note.txt")


def count_activities(history: Sequence[Mapping[str, Any]]) -> int:
    """Activities in an orchestration's history, which shows each with its answer as one event."""
    kinds = ("TaskScheduled", "TaskCompleted", "TaskFailed")
    return sum(event["EventType"] in kinds for event in history)


@contextmanager
def running_stack(folder: Path) -> Iterator[MeasuredStack]:
    """Start everything on free ports, with its data in `folder`, and end it."""
    ends = Ends()
    settings = with_free_ports(folder)
    plan = partial(plan_embedded_azure, overrides=SLOTS)
    with Stack(settings, plan=plan) as stack, surround(settings, ends.hear) as services:
        url = f"{extraction_url(settings)}?behaviour=instant"
        register_extractor(services.database, EXTRACTOR, CLIENT, url)
        yield MeasuredStack(stack, services, ends)
