"""The activity that ends a job whose time is up, unless its report is still on its way."""

from datetime import timedelta
from uuid import UUID

from shared.domain.deadlines import too_late_message
from shared.domain.jobs import JobStatus
from shared.domain.tracking import Step, again, standing, taken
from shared.services.job_changes import Change, change_job
from shared.services.job_rows import JobRows, read_rows
from shared.services.job_rules import JobRules
from shared.services.outbox import SendOutbox
from shared.services.ports import Clock, Database, Transaction, WaitingReports

LOOK_AGAIN = timedelta(minutes=1)
LONGEST_GRACE = timedelta(hours=1)
"""How long a deadline is put off while older reports than it wait in the subscription."""


class ExpireJob:
    """Fails a job past its deadline: start time-out from Queued only, run time-out from Started."""

    def __init__(
        self,
        database: Database,
        send_outbox: SendOutbox,
        waiting: WaitingReports,
        rules: JobRules,
        clock: Clock,
    ) -> None:
        self._database = database
        self._send_outbox = send_outbox
        self._waiting = waiting
        self._rules = rules
        self._clock = clock

    def __call__(self, job_id: UUID) -> Step:
        """*ended*, *taken* until the next deadline, or *again* when it still has to be called.

        Raises TransientError.
        """
        known = self._database.run(lambda tx: read_rows(tx, job_id))
        now = self._clock()
        step = standing(known.job, known.call, now) or again(now)
        if step.kind == "taken" and known.call.due_at <= now:
            if self._report_may_wait(known):
                return taken(now + LOOK_AGAIN, known.job.status)
            return self._fail(known)
        return self._answer(known, step)

    def _report_may_wait(self, known: JobRows) -> bool:
        if self._clock() >= known.call.due_at + LONGEST_GRACE:
            return False
        oldest = self._waiting.oldest()
        return oldest is not None and oldest < known.call.due_at

    def _fail(self, known: JobRows) -> Step:
        change = Change(
            status=JobStatus.FAILED,
            at=self._clock(),
            source="deadline",
            message=too_late_message(known.job, self._rules.limits),
            only_from=known.job.status,
            announce=True,
            retryable=True,
        )

        def fail(tx: Transaction) -> JobRows:
            change_job(tx, known.job, change, self._rules)
            return read_rows(tx, known.job.job_id)

        after = self._database.run(fail)
        now = self._clock()
        return self._answer(after, standing(after.job, after.call, now) or again(now))

    def _answer(self, known: JobRows, step: Step) -> Step:
        if step.kind == "ended":
            self._send_outbox(known.job.job_id)
        return step
