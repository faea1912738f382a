"""One job from its submission to its end, step by step."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from local.demo.console import facts, say
from local.demo.file_service import StoredFile
from local.demo.status_service import Announcement, StatusService
from shared.adapters.database import SqlDatabase
from shared.contracts.job_status import JobSucceeded
from shared.domain.events import EventKind, FileEvent
from shared.domain.jobs import ENDS, Job, JobStatus

FIRST_PATIENCE_SECONDS = 30.0
PATIENCE_SECONDS = 150.0
"""How long a job may take to appear, and then each of its steps: a long document takes minutes."""

POLL_SECONDS = 0.05


class JobStuckError(Exception):
    """The next step of a job did not come. The text says which was the last."""


@dataclass(frozen=True)
class Step:
    """A status that the job has reached; at its end with the reason or the result summary."""

    status: JobStatus
    at: datetime
    reason: str | None = None
    summary: Any = None


def announced_steps(statuses: StatusService, job_id: UUID) -> Iterator[Step]:
    """The steps as another service sees them, on the job status topic. Raises JobStuckError."""
    shown: list[Step] = []
    while not _ended(shown):
        try:
            found = statuses.wait_for(job_id, _more_than(len(shown)), _patience(shown))
        except TimeoutError:
            raise _stuck(shown) from None
        for announcement in found[len(shown) :]:
            message = announcement.report.message
            summary = message.ResultSummary if isinstance(message, JobSucceeded) else None
            shown.append(
                Step(announcement.status, message.Timestamp, announcement.report.text, summary)
            )
            yield shown[-1]


def recorded_steps(database: SqlDatabase, stored: StoredFile) -> Iterator[Step]:
    """The steps as the database has them. Raises JobStuckError."""
    shown: list[Step] = []
    changed_at = time.monotonic()
    while not _ended(shown):
        for step in read_steps(database, stored)[len(shown) :]:
            changed_at = time.monotonic()
            shown.append(step)
            yield step
        if time.monotonic() - changed_at > _patience(shown):
            raise _stuck(shown)
        time.sleep(POLL_SECONDS)


def read_steps(database: SqlDatabase, stored: StoredFile) -> list[Step]:
    """What stands in the database about the file's first job."""
    job, events = database.run(
        lambda tx: (tx.jobs.get(stored.job_id), tx.events.of_file(stored.file_id))
    )
    if job is None:
        return []
    queued = Step(JobStatus.QUEUED, job.created_at)
    return [queued, *(_recorded(event, job) for event in events if _is_change(event, job))]


def show_job(steps: Iterable[Step], since: datetime) -> bool:
    """Print each step when it comes, then the result or the reason; whether it succeeded."""
    last = show_steps(steps, since)
    if last and last.status is JobStatus.SUCCEEDED:
        _show_summary(last.summary)
        return True
    say()
    say(f"The job did not succeed: {last.reason if last else 'nothing was reported'}")
    return False


def show_steps(steps: Iterable[Step], since: datetime) -> Step | None:
    """Print each step when it comes; the last one."""
    last = None
    for last in steps:
        seconds = (last.at - since).total_seconds()
        say(f"  {last.at.astimezone():%H:%M:%S}  {last.status:<10} {seconds:6.2f} s")
    return last


def _show_summary(summary: Any) -> None:
    say()
    say("Result")
    for line in facts(summary if isinstance(summary, dict) else {"summary": summary}):
        say(line)


def _more_than(count: int) -> Callable[[Sequence[Announcement]], bool]:
    return lambda announcements: len(announcements) > count


def _ended(steps: list[Step]) -> bool:
    return any(step.status in ENDS for step in steps)


def _is_change(event: FileEvent, job: Job) -> bool:
    return (
        event.kind is EventKind.STATUS and event.job_id == job.job_id and "status" in event.detail
    )


def _recorded(event: FileEvent, job: Job) -> Step:
    status = JobStatus(event.detail["status"])
    response = job.extractor_response if status is JobStatus.SUCCEEDED else None
    summary = json.loads(response).get("ResultSummary") if response else None
    return Step(status, event.at, event.detail.get("message"), summary)


def _patience(steps: list[Step]) -> float:
    return PATIENCE_SECONDS if steps else FIRST_PATIENCE_SECONDS


def _stuck(steps: list[Step]) -> JobStuckError:
    last = f"the job is still {steps[-1].status}" if steps else "no job was made"
    return JobStuckError(f"{last} after {_patience(steps):.0f} s")
