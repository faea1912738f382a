"""An extractor reports over HTTPS instead of the topic: we announce on its behalf."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from shared.contracts.job_status import JobStatusMessage
from shared.contracts.outgoing import job_status_message, trace_parent_of
from shared.domain.errors import ConflictingStateError, NotFoundError, TransientError
from shared.domain.jobs import ENDS, JobStatus
from shared.services.job_changes import Change, change_job, status_message
from shared.services.job_rules import JobRules
from shared.services.outbox import TryToSendOutbox
from shared.services.ports import Clock, Database, Publisher, Transaction

NO_REASON = "The extractor gave no reason"


@dataclass(frozen=True)
class CallbackReport:
    """What the extractor says of its job; `raw` is the JSON it sent."""

    job_id: UUID
    status: JobStatus
    raw: str
    result_summary: dict[str, Any] | str | None = None
    error_message: str | None = None


class RecordCallback:
    """Makes the change and outboxes its message; our own message then wakes the orchestration."""

    def __init__(
        self,
        database: Database,
        try_to_send: TryToSendOutbox,
        publisher: Publisher,
        rules: JobRules,
        clock: Clock,
    ) -> None:
        self._database = database
        self._try_to_send = try_to_send
        self._publisher = publisher
        self._rules = rules
        self._clock = clock

    def __call__(self, report: CallbackReport, trace_parent: str | None = None) -> None:
        """Record a report; a repeat changes nothing.

        With the database out of reach the report goes to the topic, from where it is recorded
        later. Raises NotFoundError, ConflictingStateError naming a different end, and
        TransientError when neither the database nor the topic is there.
        """
        change = self._change(report)
        try:
            self._database.run(lambda tx: self._record(tx, report, change))
        except TransientError:
            self._publisher.publish(self._message(report, change, trace_parent))
            return
        self._try_to_send(report.job_id)

    def _change(self, report: CallbackReport) -> Change:
        failed = report.status is JobStatus.FAILED
        return Change(
            status=report.status,
            at=self._clock(),
            source="call-back",
            message=(report.error_message or NO_REASON) if failed else None,
            response=report.raw,
            announce=True,
            retryable=failed,
            result_summary=report.result_summary,
        )

    def _record(self, tx: Transaction, report: CallbackReport, change: Change) -> None:
        job = tx.jobs.get(report.job_id)
        if job is None:
            raise NotFoundError(f"There is no job {report.job_id}")
        if change_job(tx, job, change, self._rules):
            return
        standing = tx.jobs.get(report.job_id) or job
        if report.status in ENDS and standing.status is not report.status:
            raise ConflictingStateError(f"The job has ended before: it is {standing.status}")

    def _message(self, report: CallbackReport, change: Change, trace_parent: str | None) -> Any:
        data: JobStatusMessage = status_message(report.job_id, change)
        return job_status_message(data, self._rules.status_topic, trace_parent_of(trace_parent))
