"""Starting a job's orchestration and waking it, idempotently: the row says what is to be done."""

from datetime import datetime
from typing import Any

from shared.domain.jobs import Job, JobStatus
from shared.functions.names import ENDED, ORCHESTRATION, STARTED


async def start(client: Any, job: Job) -> None:
    """Start the orchestration of an active job under its JobID; one that runs already is fine.

    Never called for a job that has ended: starting a finished instance would replace its history.
    """
    try:
        await client.start_new(ORCHESTRATION, str(job.job_id), {"jobId": str(job.job_id)})
    except Exception as error:
        # The client has one exception for everything; only its text tells a running instance.
        if "already exists" not in str(error):
            raise


async def wake(client: Any, job: Job, due_at: datetime | None) -> None:
    """Raise the event that the job's row calls for; an instance not there, or gone, is fine.

    `Started` carries the run's deadline, `Ended` the end's name: neither can change any more.
    """
    if job.status is JobStatus.STARTED and due_at:
        await _raise(client, job, STARTED, due_at.isoformat())
    elif not job.active:
        await _raise(client, job, ENDED, job.status.value)


async def _raise(client: Any, job: Job, name: str, data: str) -> None:
    try:
        await client.raise_event(str(job.job_id), name, data)
    except Exception as error:
        if not any(text in str(error) for text in ("No instance with ID", "is gone")):
            raise
