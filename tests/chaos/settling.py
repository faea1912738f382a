"""Waiting until nothing is left to do."""

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.chaos.broker import BrokerView
from tests.chaos.extractors import Wanted
from tests.chaos.rows import JobRow, Rows
from tests.chaos.sent import Sent
from tests.chaos.stack import ChaosStack

POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Left:
    """What is not over. `lost` will never come by itself, the rest is stuck."""

    lost: Sequence[str]
    stuck: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.lost or self.stuck)


def settle(
    stack: ChaosStack,
    sent: Sent,
    seconds: float,
    unchanged: float = math.inf,
    reconcile_every: float = math.inf,
) -> Left:
    """What is left when nothing is, after `seconds`, or once it stayed the same for `unchanged`.

    Reconciliation may be started more often than by its timer.
    """
    begun = changed = reconciled = time.monotonic()
    left = look(stack, sent)
    while left and time.monotonic() - begun < seconds:
        if time.monotonic() - changed > unchanged:
            break
        if time.monotonic() - reconciled > reconcile_every:
            stack.reconcile()
            reconciled = time.monotonic()
        time.sleep(POLL_SECONDS)
        before, left = left, look(stack, sent)
        if left != before:
            changed = time.monotonic()
    return left


def look(stack: ChaosStack, sent: Sent) -> Left:
    """What is left now."""
    rows = stack.rows
    jobs = rows.jobs()
    return Left(
        lost=_without_end(sent, jobs, stack.timing.most_jobs),
        stuck=[
            *[f"job {job.job_id} is {job.status}" for job in jobs if job.active],
            *_unfinished(rows),
            *[f"message {each} waits" for each in BrokerView(stack.service_bus).waiting()],
            *[f"orchestration {each} is live" for each in stack.live_orchestrations()],
        ],
    )


def _unfinished(rows: Rows) -> Sequence[str]:
    return [
        *[f"message {each} is unsent" for each in rows.unsent()],
        *[f"a file of attempt {each} is undecided" for each in rows.undecided()],
        *[f"attempt {each} is open" for each in rows.open_attempts()],
    ]


def _without_end(sent: Sent, jobs: Sequence[JobRow], most_jobs: int) -> Sequence[str]:
    by_file = jobs_by_file(jobs)
    lost = []
    for file_id, wanted in sent.wanted().items():
        found = by_file.get(file_id, [])
        if not found:
            lost.append(f"file {file_id} has no job")
        elif _misses_retry(found, wanted, most_jobs):
            lost.append(f"file {file_id} failed {len(found)} times, and its retry is missing")
    return lost


def _misses_retry(jobs: Sequence[JobRow], wanted: Wanted, most_jobs: int) -> bool:
    retried = wanted is not Wanted.FAILED_AT_ONCE
    return retried and jobs[-1].status == "Failed" and len(jobs) < most_jobs


def jobs_by_file(jobs: Sequence[JobRow]) -> dict[str, list[JobRow]]:
    """Each file's jobs, in the order in which they were made."""
    by_file = defaultdict(list)
    for job in jobs:
        by_file[job.file_id].append(job)
    return by_file
