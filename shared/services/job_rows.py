"""All that is known of a job, read together."""

from dataclasses import dataclass
from uuid import UUID

from shared.domain.errors import NotYetError
from shared.domain.jobs import Call, Extractor, File, Job
from shared.services.ports import Transaction


@dataclass(frozen=True)
class JobRows:
    """A job with its call, its file and its extractor."""

    job: Job
    call: Call
    file: File | None
    extractor: Extractor | None


def read_rows(tx: Transaction, job_id: UUID) -> JobRows:
    """The job's rows. Raises NotYetError when there is no such job."""
    job, call = tx.jobs.get(job_id), tx.calls.get(job_id)
    if job is None or call is None:
        raise NotYetError(f"Job {job_id} is not known")
    extractor = tx.registrations.get(job.extractor_id) if job.extractor_id is not None else None
    return JobRows(job, call, tx.files.get(job.file_id), extractor)
