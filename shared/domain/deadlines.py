"""How long each part of a job may take, and what is said when it took too long."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.jobs import Job, JobStatus


@dataclass(frozen=True)
class TimeLimits:
    """The bounds of a job, from the settings of the same names."""

    call: timedelta
    start: timedelta
    run: timedelta
    max_wait: timedelta


def too_late_message(job: Job, limits: TimeLimits) -> str:
    """Why a job past its deadline failed: not started, or not finished, in time."""
    if job.status is JobStatus.QUEUED:
        return f"The extractor did not start within {_minutes(limits.start)} of taking the job"
    return f"The extractor did not finish within {_minutes(limits.run)} of starting"


def waited_too_long(job: Job, limits: TimeLimits, now: datetime) -> bool:
    """Whether a job that was never taken has waited past the bound on everything."""
    return now - job.created_at >= limits.max_wait


def _minutes(limit: timedelta) -> str:
    minutes = limit.total_seconds() / 60
    return f"{minutes:g} minute" if minutes == 1 else f"{minutes:g} minutes"
