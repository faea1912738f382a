"""Whether an extractor may be called now: its slots, its circuit, and whether someone paused it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

FAILURES_TO_OPEN = 5
"""Passing failures in a row, of any jobs, after which an extractor is left alone for a while."""
FIRST_OPEN = timedelta(seconds=30)
LONGEST_OPEN = timedelta(minutes=10)
LOOK_AGAIN_PAUSED = timedelta(minutes=1)
LOOK_AGAIN_FULL = timedelta(seconds=15)
LONGEST_LOOK_AGAIN_FULL = timedelta(minutes=1)
SHARE_OF_WAITING = 20
"""A job that has waited long for a slot looks less often: each look costs an activity."""
LOOK_AGAIN_OPEN = timedelta(seconds=30)
"""A circuit may close early: its probe is answered, or someone resumes the extractor."""


@dataclass(frozen=True)
class ExtractorHealth:
    """A row of `[extractor].[ExtractorHealth]`. `failures` counts those in a row.

    The circuit is open until `open_until`; the first call after that is a probe.
    """

    extractor_id: int
    failures: int = 0
    open_until: datetime | None = None
    paused_at: datetime | None = None
    paused_by: str | None = None
    pause_reason: str | None = None

    @property
    def broken(self) -> bool:
        """Whether the circuit is open, or waits for its probe."""
        return self.failures >= FAILURES_TO_OPEN


def held_until(
    health: ExtractorHealth, active: int, most_active: int, waited: timedelta, now: datetime
) -> datetime | None:
    """When to look again because the extractor must not be called now; None when it may be.

    `waited` is the age of the job that is to be called.
    """
    if health.paused_at:
        return now + LOOK_AGAIN_PAUSED
    if health.open_until and health.open_until > now:
        return min(health.open_until, now + LOOK_AGAIN_OPEN)
    if active < most_active:
        return None
    return now + min(max(waited / SHARE_OF_WAITING, LOOK_AGAIN_FULL), LONGEST_LOOK_AGAIN_FULL)


def probing(health: ExtractorHealth, until: datetime) -> ExtractorHealth:
    """While one job probes a broken extractor, until its lease ends at most, the others wait."""
    return replace(health, open_until=until) if health.broken else health


def after_answer(health: ExtractorHealth) -> ExtractorHealth:
    """It answers: the circuit is closed."""
    return replace(health, failures=0, open_until=None)


def after_failure(
    health: ExtractorHealth, lease: datetime | None, now: datetime
) -> ExtractorHealth:
    """It failed: from the fifth time in a row on, the circuit opens for longer and longer.

    While it is open only its probe counts, which the end of its `lease` tells from the calls that
    were under way when it opened: one short outage fails them all.
    """
    if health.open_until and health.open_until > now and health.open_until != lease:
        return health
    failed = replace(health, failures=health.failures + 1)
    if not failed.broken:
        return failed
    doubled: timedelta = FIRST_OPEN * 2 ** min(failed.failures - FAILURES_TO_OPEN, 10)
    return replace(failed, open_until=now + min(doubled, LONGEST_OPEN))
