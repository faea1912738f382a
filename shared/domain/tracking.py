"""What the activities of an orchestration answer, and when it wakes up again."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from shared.domain.jobs import Call, Job, JobStatus

SHORTEST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(days=1)
"""Durable timers must stay far under the short-timer limit, or cancelling them does nothing."""
TIMER_MARGIN = timedelta(seconds=1)
"""A durable timer can fire up to a second early."""


@dataclass(frozen=True)
class Step:
    """An activity's answer: the job *ended*, is *taken* until a deadline, or is tried *again*."""

    kind: Literal["ended", "taken", "again"]
    until: datetime | None = None
    status: JobStatus | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: orchestrations cannot carry times or enums."""
        return {
            "kind": self.kind,
            "until": self.until.isoformat() if self.until else None,
            "status": self.status.value if self.status else None,
        }


def ended(status: JobStatus) -> Step:
    return Step("ended", status=status)


def taken(until: datetime, status: JobStatus) -> Step:
    return Step("taken", until=until, status=status)


def again(at: datetime, status: JobStatus = JobStatus.QUEUED) -> Step:
    return Step("again", until=at, status=status)


def wake_up(until: datetime, now: datetime) -> datetime:
    """When to look again: within 5 s at the soonest, a day at the latest, a second late."""
    return min(max(until, now + SHORTEST_WAIT), now + LONGEST_WAIT) + TIMER_MARGIN


def standing(job: Job, call: Call, now: datetime) -> Step | None:
    """What the rows alone say of a job; None when its extractor may be called.

    Ended, taken until `due_at`, or again when the lease that another holds runs out, or when the
    pause after a failed call is over.
    """
    if not job.active:
        return ended(job.status)
    if call.called_at or job.status is JobStatus.STARTED:
        return taken(call.due_at, job.status)
    if call.lease_until and call.lease_until > now:
        return again(call.lease_until)
    return again(call.due_at) if call.due_at > now else None
