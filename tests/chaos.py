"""Files go through the whole stack while its parts are killed at random; then all is counted.

`make chaos FILES=1000 SEED=7` runs it; the same seed makes the same choices. The check knows only
what was sent: every file must end in exactly one final state, each of its jobs must be announced
from its queueing to its end, and no job may be taken more than once by its extractor.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

from azure.core.exceptions import AzureError

from local.demo.file_service import StoredFile
from local.demo.surroundings import surround
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import PartFailedError
from local.supervisor.stack import Stack
from shared.domain.jobs import Job, JobStatus
from tests.integration.whole_stack import WholeStack

BEHAVIOURS = (
    "",
    "instant",
    "busy=1",
    "slow=1",
    "fail=1",
    "lose-answer,instant",
    "report-twice",
    "report-late=0.5",
    "fail-report",
)
KILLED = ("host", "host", "servicebus", "extractor", "identity")
"""The host twice as often: most of what can break is there. Azurite forgets when it is killed."""

OVERRIDES = {
    "AzureFunctionsJobHost__extensions__durableTask__storageProvider"
    "__workItemQueueVisibilityTimeout": "00:00:05",
    "RETRY_BACKOFF_SECONDS": "1",
}
MOST_JOBS = 4
"""Of one file: the first extraction and three retries."""
RECOVERY_SECONDS = 180.0
"""A call that a killed host had in hand is made again when its lease, of a minute, has run out."""


@dataclass
class Report:
    """What was found. `lost`, `stuck`, `doubled` and `unheard` must be empty."""

    files: int
    kills: Counter[str] = field(default_factory=Counter)
    lost: list[object] = field(default_factory=list)
    stuck: list[object] = field(default_factory=list)
    doubled: list[object] = field(default_factory=list)
    unheard: list[object] = field(default_factory=list)
    recovery_seconds: float = 0.0

    @property
    def clean(self) -> bool:
        return not (self.lost or self.stuck or self.doubled or self.unheard)

    def __str__(self) -> str:
        kills = ", ".join(f"{part} {count}" for part, count in sorted(self.kills.items()))
        return (
            f"{self.files} files, {self.kills.total()} kills ({kills})\n"
            f"lost {len(self.lost)}, doubled {len(self.doubled)}, stuck {len(self.stuck)},"
            f" unheard {len(self.unheard)}\n"
            f"all ended {self.recovery_seconds:.0f} s after the last kill"
        )


@contextmanager
def chaos_stack(folder: Path) -> Iterator[WholeStack]:
    """A stack on which what a dead host held comes back after seconds."""
    plan = partial(plan_embedded_azure, overrides=OVERRIDES, lock_duration=timedelta(seconds=5))
    settings = with_free_ports(folder)
    with Stack(settings, plan=plan) as running, surround(settings) as services:
        yield WholeStack(running, services)


def run_chaos(stack: WholeStack, files: int, seed: int) -> Report:
    """Submit files while parts die, wait until everything has ended, and count."""
    report = Report(files)
    chance = random.Random(seed)
    calm = threading.Event()
    killer = threading.Thread(target=_kill, args=(stack, random.Random(seed), calm, report))
    killer.start()
    try:
        stored = _submit(stack, files, chance)
    finally:
        calm.set()
        killer.join()
    began = time.monotonic()
    _wait_for_ends(stack, stored)
    report.recovery_seconds = time.monotonic() - began
    for each in stored:
        _check(stack, each, report)
    return report


def _kill(stack: WholeStack, chance: random.Random, calm: threading.Event, report: Report) -> None:
    while not calm.wait(chance.uniform(0.2, 2)):
        part = stack.stack.parts[chance.choice(KILLED)]
        part.kill()
        report.kills[part.part.name] += 1
        calm.wait(chance.uniform(0, 1))
        part.start()


def _submit(stack: WholeStack, files: int, chance: random.Random) -> list[StoredFile]:
    clients = [
        stack.client_with(f"{stack.extraction_url}?behaviour={behaviour}")
        for behaviour in BEHAVIOURS
    ]
    stored = []
    for number in range(files):
        client = chance.choice(clients)
        file = stack.services.files.store(f"Invoice {number}".encode(), "note.txt", client)
        for _ in range(1 + (chance.random() < 0.3)):
            _announce(stack, file)
        stored.append(file)
        time.sleep(chance.uniform(0, 0.3))
    return stored


def _announce(stack: WholeStack, file: StoredFile) -> None:
    """As a file service does: until the broker has it."""
    while True:
        try:
            return stack.services.files.announce(file.file_id)
        except (AzureError, OSError):
            time.sleep(0.2)


def _wait_for_ends(stack: WholeStack, stored: Sequence[StoredFile]) -> None:
    """Until every file has a job and no job is active, or the time for it is over."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    waiting = list(stored)
    while waiting and time.monotonic() < deadline:
        waiting = [each for each in waiting if not _settled(stack.jobs_of(each.file_id))]
        time.sleep(0.5)


def _settled(jobs: Sequence[Job]) -> bool:
    """No job is active, and what failed has had all its retries."""
    if not jobs or any(job.active for job in jobs):
        return False
    return jobs[-1].status is JobStatus.SUCCEEDED or len(jobs) == MOST_JOBS


def _check(stack: WholeStack, file: StoredFile, report: Report) -> None:
    jobs = stack.jobs_of(file.file_id)
    if not jobs:
        report.lost.append(file.file_id)
    if len({job.attempt for job in jobs}) != len(jobs):
        report.doubled.append(file.file_id)
    for job in jobs:
        if job.active:
            report.stuck.append(job.job_id)
        elif stack.calls_of(job.job_id)["taken"] > 1:
            report.doubled.append(job.job_id)
        elif not _heard(stack, job):
            report.unheard.append(job.job_id)


def _heard(stack: WholeStack, job: Job) -> bool:
    """Whether another subscriber heard of the job from its queueing to its end."""
    wanted = {"Queued", job.status.value}
    try:
        stack.services.statuses.wait_for(
            job.job_id, lambda found: wanted <= {each.status.value for each in found}, 10
        )
    except TimeoutError:
        return False
    return True


def main() -> int:
    """0 when nothing was lost, doubled, stuck or unheard."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, chaos_stack(Path(folder)) as stack:
        try:
            report = run_chaos(stack, options.files, options.seed)
        except PartFailedError as error:
            sys.stdout.write(f"{error}\n")
            return 1
    sys.stdout.write(f"{report}\n")
    for kind in ("lost", "doubled", "stuck", "unheard"):
        for each in getattr(report, kind):
            sys.stdout.write(f"  {kind} {each}\n")
    return 0 if report.clean else 1


if __name__ == "__main__":
    sys.exit(main())
