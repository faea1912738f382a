"""What the activities of an orchestration answer, and when it wakes up again."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from shared.domain.jobs import JobStatus

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
