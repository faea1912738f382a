"""An operator cancels a job."""

from dataclasses import dataclass
from uuid import UUID

from shared.domain.errors import ConflictingStateError, NotFoundError
from shared.domain.jobs import Job, JobStatus
from shared.services.job_changes import Change, change_job
from shared.services.job_rules import JobRules
from shared.services.ports import Clock, Database, Transaction


@dataclass(frozen=True)
class Cancellation:
    """Which job, why, and who wants it."""

    job_id: UUID
    reason: str
    actor: str


class CancelJob:
    """Makes the change and outboxes JobCancelled; nothing retries the job afterwards."""

    def __init__(self, database: Database, rules: JobRules, clock: Clock) -> None:
        self._database = database
        self._rules = rules
        self._clock = clock

    def __call__(self, cancellation: Cancellation) -> Job:
        """The cancelled job.

        Its orchestration is woken by our own JobCancelled when it comes back from the topic.
        Raises NotFoundError, ConflictingStateError naming the end of an ended job, TransientError.
        """
        return self._database.run(lambda tx: self._cancel(tx, cancellation))

    def _cancel(self, tx: Transaction, cancellation: Cancellation) -> Job:
        job = tx.jobs.get(cancellation.job_id)
        if job is None:
            raise NotFoundError(f"There is no job {cancellation.job_id}")
        change = Change(
            status=JobStatus.CANCELLED,
            at=self._clock(),
            source="operator",
            message=cancellation.reason,
            announce=True,
            actor=cancellation.actor,
        )
        if not job.active or not change_job(tx, job, change, self._rules):
            standing = tx.jobs.get(job.job_id) or job
            raise ConflictingStateError(f"The job has ended before: it is {standing.status}")
        return tx.jobs.get(job.job_id) or job
