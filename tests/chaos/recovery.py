"""How many kills hit work in flight, and how long it took to recover from each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.chaos.journal import Failure
from tests.chaos.rows import JobRow


@dataclass(frozen=True)
class Recovery:
    """After one kill, by the jobs that were active (Queued or Started) at that moment.

    Times in seconds from the kill, None while it has not happened: until the first of those jobs
    had ended, and until all of them had, whatever else went wrong meanwhile.
    """

    part: str
    active: int
    first_end: float | None
    all_ended: float | None


def recoveries(kills: Sequence[Failure], jobs: Sequence[JobRow]) -> Sequence[Recovery]:
    """Of the kills that hit work in flight: at least one job was active at that moment."""
    found = [_recovery(kill, jobs) for kill in kills]
    return [each for each in found if each.active]


def _recovery(kill: Failure, jobs: Sequence[JobRow]) -> Recovery:
    active = [job for job in jobs if job.was_active(kill.at)]
    ends = sorted(_seconds(kill.at, job.completed) for job in active if job.completed)
    over = len(ends) == len(active)
    return Recovery(
        part=kill.part,
        active=len(active),
        first_end=ends[0] if ends else None,
        all_ended=ends[-1] if ends and over else None,
    )


def _seconds(begun: datetime, ended: datetime) -> float:
    return (ended - begun).total_seconds()
