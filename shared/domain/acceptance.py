"""Whether an accepted file needs a job, decided from the jobs it has."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from shared.domain.jobs import Job


def satisfying_job(jobs: Sequence[Job], job_id: UUID, enqueued_at: datetime) -> Job | None:
    """The job that already answers a FileAccepted enqueued at `enqueued_at`, if there is one.

    That is the job of this very content (`job_id`), else an active job of the file, else one
    created after the message was enqueued: it then asks for nothing that has not been done.
    """
    by_rule = (
        [job for job in jobs if job.job_id == job_id]
        or [job for job in jobs if job.active]
        or [job for job in jobs if job.created_at >= enqueued_at]
    )
    return by_rule[0] if by_rule else None
