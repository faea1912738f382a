"""A report on a job has come: from the topic, whoever sent it."""

from dataclasses import dataclass
from datetime import datetime

from shared.contracts.job_status import StatusReport
from shared.domain.errors import NotYetError
from shared.domain.jobs import Job, JobStatus
from shared.services.job_changes import Change, change_job
from shared.services.job_rules import JobRules
from shared.services.ports import Clock, Database, Transaction


@dataclass(frozen=True)
class Recorded:
    """The job as it stands after a report, and when something must happen next."""

    job: Job
    due_at: datetime | None


class RecordReport:
    """Makes the change that a report asks for, if the row allows it."""

    def __init__(self, database: Database, rules: JobRules, clock: Clock) -> None:
        self._database = database
        self._rules = rules
        self._clock = clock

    def __call__(self, report: StatusReport, source: str) -> Recorded:
        """The job as it stands afterwards. A repeat changes nothing.

        Raises NotYetError while the job is unknown, TransientError.
        """
        return self._database.run(lambda tx: self._record(tx, report, source))

    def _record(self, tx: Transaction, report: StatusReport, source: str) -> Recorded:
        job = tx.jobs.get(report.job_id)
        if job is None:
            raise NotYetError(f"Job {report.job_id} is not known")
        change = Change(
            status=report.status,
            at=self._clock(),
            source=source,
            message=report.text,
            response=report.raw,
            retryable=report.status is JobStatus.FAILED,
        )
        change_job(tx, job, change, self._rules)
        call = tx.calls.get(report.job_id)
        return Recorded(tx.jobs.get(report.job_id) or job, call.due_at if call else None)
