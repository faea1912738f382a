"""Finding and mending what a crash between two steps left behind. Every step is safe to repeat."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from shared.domain.errors import TransientError
from shared.domain.events import EventKind, FileEvent
from shared.domain.jobs import Job
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

    def note(self, job: Job, what: str) -> None:
        """Write down that an orchestration was mended. Raises TransientError."""
        detail: dict[str, Any] = {"what": what}
        event = FileEvent(
            file_id=job.file_id,
            at=self._clock(),
            kind=EventKind.MENDED,
            source="reconciliation",
            job_id=job.job_id,
            request_id=job.request_id,
            detail=detail,
        )
        self._database.run(lambda tx: tx.events.add(event))

    def _send(self, now: datetime) -> int:
        waiting = self._database.run(lambda tx: tx.outbox.overdue(now - UNSENT_FOR, MOST))
        for kept_by in waiting:
            self._send_outbox(kept_by)
        return len(waiting)

    def _expire_jobs(self, now: datetime) -> int:
        overdue = self._database.run(lambda tx: tx.calls.overdue(now - OVERDUE_FOR, MOST))
        return sum(self._expire(job_id).kind == "ended" for job_id in overdue)

    def _decide_files(self, now: datetime) -> int:
        def decide(tx: Transaction) -> int:
            ended = tx.retries.undecided_of_ended_jobs(MOST)
            for job in ended:
                end = JobEnd(job.status, job.completed_at or now, job.status_message, True)
                for message in settle_end(tx, job, end, self._rules).messages:
                    tx.outbox.add(message, job.job_id)
            return len(ended)

        return self._database.run(decide)

    def _close_attempts(self, now: datetime) -> int:
        def close(tx: Transaction) -> int:
            attempts = tx.retries.open_and_decided(MOST)
            for request_id, attempt in attempts:
                result = close_attempt(tx, request_id, attempt, now, self._rules)
                if result:
                    tx.outbox.add(result, self._stage_mapper.kept_by(request_id, attempt))
            return len(attempts)

        return self._database.run(close)

    def _continue_attempts(self, now: datetime) -> int:
        stopped = self._database.run(
            lambda tx: tx.retries.closed_without_successor(now - STUCK_FOR, MOST)
        )
        kept = [self._stage_mapper.continue_attempt(*attempt) for attempt in stopped]
        return sum(kept_by is not None for kept_by in kept)
