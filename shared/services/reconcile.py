"""Finding and mending what a crash between two steps left behind. Every step is safe to repeat."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from shared.domain.errors import TransientError
from shared.domain.events import EventKind, FileEvent
from shared.domain.extractor_calls import may_go_better
from shared.domain.jobs import Job
from shared.domain.mended import PASSES, Mended
from shared.services.expire_job import ExpireJob
from shared.services.job_ends import JobEnd, close_attempt, settle_end
from shared.services.job_rules import JobRules
from shared.services.outbox import SendOutbox
from shared.services.ports import Clock, Database, Transaction
from shared.services.stage_mapper import StageMapper

UNSENT_FOR = timedelta(minutes=1)
OVERDUE_FOR = timedelta(minutes=2)
"""The orchestration's own timer comes first; only what it missed is ended here."""
UNCHANGED_FOR = timedelta(minutes=2)
STUCK_FOR = timedelta(minutes=10)
"""How long after its time a job's orchestration, or a successor, must have been due."""
MOST = 1000
"""Of each kind in one pass; the next pass takes the rest."""


@dataclass(frozen=True)
class Suspects:
    """Active jobs whose orchestrations should be looked at; `stuck` are past their time as well."""

    jobs: Sequence[Job]
    stuck: frozenset[UUID]
    looked_at: datetime

    @property
    def oldest(self) -> timedelta | None:
        """The age of the oldest job; None when there is none."""
        return max((self.looked_at - job.created_at for job in self.jobs), default=None)


class Reconcile:
    """Mends from the database alone; what needs the durable client is answered to the trigger."""

    def __init__(
        self,
        database: Database,
        send_outbox: SendOutbox,
        expire: ExpireJob,
        stage_mapper: StageMapper,
        rules: JobRules,
        clock: Clock,
    ) -> None:
        self._database = database
        self._send_outbox = send_outbox
        self._expire = expire
        self._stage_mapper = stage_mapper
        self._rules = rules
        self._clock = clock

    def mend(self) -> Mapping[str, int]:
        """One pass; how many of each kind. A part out of reach ends a kind, not the pass."""
        now = self._clock()
        kinds: dict[str, Callable[[], int]] = {
            "retryFilesDecided": lambda: self._decide_files(now),
            "attemptsClosed": lambda: self._close_attempts(now),
            "jobsExpired": lambda: self._expire_jobs(now),
            "attemptsContinued": lambda: self._continue_attempts(now),
            "outboxesSent": lambda: self._send(now),
        }
        mended: Counter[str] = Counter()
        for kind, mend in kinds.items():
            try:
                mended[kind] = mend()
            except TransientError:
                mended["partsOutOfReach"] += 1
        return mended

    def suspects(self) -> Suspects:
        """Active jobs that nothing has changed for two minutes. Raises TransientError."""
        now = self._clock()
        return self._database.run(
            lambda tx: Suspects(
                tx.jobs.active_since(now - UNCHANGED_FOR, MOST),
                frozenset(tx.calls.overdue(now - STUCK_FOR, MOST)),
                now,
            )
        )

    def jobs(self, job_ids: Sequence[UUID]) -> Mapping[UUID, Job]:
        """The known ones of these jobs. Raises TransientError."""
        found = self._database.run(lambda tx: [tx.jobs.get(job_id) for job_id in job_ids])
        return {job.job_id: job for job in found if job}

    def was_noted(self, job: Job, what: str) -> bool:
        """Whether this was mended of a job before. Raises TransientError."""
        events = self._database.run(lambda tx: tx.events.of_file(job.file_id))
        return any(each.job_id == job.job_id and each.detail == {"what": what} for each in events)

    def note(self, job: Job, what: str) -> None:
        """Write down what was mended of a job. Raises TransientError."""
        event = _mended(job.file_id, self._clock(), what, job.job_id, job.request_id)
        self._database.run(lambda tx: tx.events.add(event))

    def count(self, mended: Mapping[str, int]) -> None:
        """Add what a pass has mended to what was mended before. Raises TransientError."""
        counts = {PASSES: 1} | {kind: count for kind, count in mended.items() if count}
        now = self._clock()
        self._database.run(lambda tx: tx.mended.add(counts, now))

    def counted(self) -> Sequence[Mended]:
        """What was mended ever since, by kind. Raises TransientError."""
        return self._database.run(lambda tx: tx.mended.all())

    def _send(self, now: datetime) -> int:
        waiting = self._database.run(lambda tx: tx.outbox.overdue(now - UNSENT_FOR, MOST))
        for kept_by in waiting:
            self._send_outbox(kept_by)
            self._note_of(kept_by, "messages sent")
        return len(waiting)

    def _expire_jobs(self, now: datetime) -> int:
        overdue = self._database.run(lambda tx: tx.calls.overdue(now - OVERDUE_FOR, MOST))
        ended = [job_id for job_id in overdue if self._expire(job_id).kind == "ended"]
        for job_id in ended:
            self._note_of(job_id, "ended past its time")
        return len(ended)

    def _note_of(self, job_id: UUID, what: str) -> None:
        """Likewise, by its id; what an attempt of a request keeps in the outbox is of no job."""
        for job in self.jobs([job_id]).values():
            self.note(job, what)

    def _decide_files(self, now: datetime) -> int:
        def decide(tx: Transaction) -> int:
            ended = tx.retries.undecided_of_ended_jobs(MOST)
            for job in ended:
                retryable = may_go_better(job, tx.calls.get(job.job_id), self._rules.limits)
                end = JobEnd(job.status, job.completed_at or now, job.status_message, retryable)
                for message in settle_end(tx, job, end, self._rules).messages:
                    tx.outbox.add(message, job.job_id)
                what = "retry files decided"
                tx.events.add(_mended(job.file_id, now, what, job.job_id, job.request_id))
            return len(ended)

        return self._database.run(decide)

    def _close_attempts(self, now: datetime) -> int:
        def close(tx: Transaction) -> int:
            attempts = tx.retries.open_and_decided(MOST)
            for request_id, attempt in attempts:
                result = close_attempt(tx, request_id, attempt, now, self._rules)
                if result:
                    tx.outbox.add(result, self._stage_mapper.kept_by(request_id, attempt))
                _note_files(tx, request_id, attempt, now, "attempt closed")
            return len(attempts)

        return self._database.run(close)

    def _continue_attempts(self, now: datetime) -> int:
        stopped = self._database.run(
            lambda tx: tx.retries.closed_without_successor(now - STUCK_FOR, MOST)
        )
        return sum(self._continue(*attempt, now) for attempt in stopped)

    def _continue(self, request_id: str, attempt: int, now: datetime) -> bool:
        if self._stage_mapper.continue_attempt(request_id, attempt) is None:
            return False
        what = "next attempt asked for"
        self._database.run(lambda tx: _note_files(tx, request_id, attempt, now, what))
        return True


def _note_files(tx: Transaction, request_id: str, attempt: int, now: datetime, what: str) -> None:
    """Write down what was mended of an attempt, at each of its files."""
    files = tx.retries.files(request_id, attempt)
    for file_id in sorted({file.file_id for file in files if file.file_id}):
        tx.events.add(_mended(file_id, now, what, request_id=request_id))


def _mended(
    file_id: UUID,
    at: datetime,
    what: str,
    job_id: UUID | None = None,
    request_id: str | None = None,
) -> FileEvent:
    return FileEvent(
        file_id=file_id,
        at=at,
        kind=EventKind.MENDED,
        source="reconciliation",
        job_id=job_id,
        request_id=request_id,
        detail={"what": what},
    )
