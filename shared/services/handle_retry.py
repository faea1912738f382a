"""A retry was asked for: make one job for each file that needs one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from shared.contracts.retry import ExtractionRetryEvent
from shared.domain.errors import PermanentError
from shared.domain.events import EventKind
from shared.domain.jobs import Extractor, File, Job, JobStatus
from shared.domain.retries import (
    FileOutcome,
    RetryFile,
    RetryRequest,
    attempt_id,
    retry_job_id,
    settled_by,
)
from shared.services.job_changes import NewJob, add_job
from shared.services.job_ends import close_attempt
from shared.services.job_rules import JobRules
from shared.services.ports import Clock, Database, RegistrationApi, Transaction

NOT_FOUND = "File with ID {ref} not found"
EXCEEDED = "Maximum retry attempts ({count}) exceeded"


@dataclass(frozen=True)
class Asked:
    """What stands in the database after a retry event: the jobs it made, and what to send.

    `outboxes` are the ids under which the outbox may hold unsent messages.
    """

    jobs: Sequence[Job]
    outboxes: Sequence[UUID]


@dataclass(frozen=True)
class Wanted:
    """The files that an event names, with the first extractor of each file's client."""

    files: Mapping[str, File | None]
    extractors: Mapping[str, Extractor | None]


@dataclass
class Plan:
    """The rows and jobs that one attempt comes to."""

    rows: list[RetryFile] = field(default_factory=list)
    jobs: list[NewJob] = field(default_factory=list)


class HandleRetry:
    """Writes an attempt of a request with its files and jobs, in one transaction."""

    def __init__(
        self, database: Database, registration: RegistrationApi, rules: JobRules, clock: Clock
    ) -> None:
        self._database = database
        self._registration = registration
        self._rules = rules
        self._clock = clock

    def __call__(self, event: ExtractionRetryEvent, trace_parent: str) -> Asked:
        """The attempt, committed. A repeat finds the rows and changes nothing.

        Raises PermanentError `message_too_old` for an event whose answer may have been removed,
        TransientError when a part is out of reach.
        """
        known = self._database.run(lambda tx: self._known(tx, event))
        if known:
            return known
        if self._may_be_forgotten(event):
            text = self._rules.retention.said_too_long_ago("ExtractionRetryEvent")
            raise PermanentError("message_too_old", text)
        files = self._database.run(lambda tx: _resolve(tx, event))
        wanted = Wanted(files, self._first_extractors(files))
        return self._database.run(lambda tx: self._write(tx, event, wanted, trace_parent))

    def _may_be_forgotten(self, event: ExtractionRetryEvent) -> bool:
        """Requests are removed as a whole: one of which an attempt is known is not forgotten."""
        old = self._rules.retention.may_be_forgotten(event.timestamp, self._clock())
        return old and not self._database.run(lambda tx: tx.retries.attempts(event.requestId))

    def _first_extractors(self, files: Mapping[str, File | None]) -> dict[str, Extractor | None]:
        clients = {file.client_application_id for file in files.values() if file}
        return {
            client: min(
                self._registration.extractors_of(client),
                key=lambda extractor: extractor.extractor_id,
                default=None,
            )
            for client in sorted(clients)
        }

    def _known(self, tx: Transaction, event: ExtractionRetryEvent) -> Asked | None:
        if tx.retries.get(event.requestId, event.retryAttempt) is None:
            return None
        rows = tx.retries.files(event.requestId, event.retryAttempt)
        ids = dict.fromkeys(row.job_id for row in rows if row.job_id)
        jobs = [job for job_id in ids if (job := tx.jobs.get(job_id))]
        return _asked(event, [job for job in jobs if job.request_id == event.requestId])

    def _write(
        self, tx: Transaction, event: ExtractionRetryEvent, wanted: Wanted, trace_parent: str
    ) -> Asked:
        known = self._known(tx, event)
        if known:
            return known
        now = self._clock()
        plan = self._plan(tx, event, wanted, trace_parent, now)
        pending = sum(row.outcome is FileOutcome.PENDING for row in plan.rows)
        tx.retries.add(_request(event, trace_parent, pending, now), plan.rows)
        jobs = [add_job(tx, new, self._rules) for new in plan.jobs]
        if pending == 0:
            result = close_attempt(tx, event.requestId, event.retryAttempt, now, self._rules)
            if result:
                tx.outbox.add(result, attempt_id(event.requestId, event.retryAttempt))
        return _asked(event, jobs)

    def _plan(
        self,
        tx: Transaction,
        event: ExtractionRetryEvent,
        wanted: Wanted,
        trace_parent: str,
        now: datetime,
    ) -> Plan:
        plan = Plan()
        first = tx.retries.get(event.requestId, 1)
        asked_at = first.asked_at if first else event.timestamp
        files = {file.file_id: file for file in wanted.files.values() if file}
        # Whoever decides for several files locks them in this order, so that none waits in a ring.
        answers = {file_id: tx.jobs.lock_of_file(file_id) for file_id in sorted(files)}
        made: dict[UUID, UUID] = {}
        for ref, file in wanted.files.items():
            if file is None:
                plan.rows.append(_failed(event, ref, NOT_FOUND.format(ref=ref), now))
                continue
            jobs = answers[file.file_id]
            settled = settled_by(jobs, asked_at)
            if settled:
                plan.rows.append(_settled(event, ref, settled, now))
            elif event.retryAttempt > event.maxRetries:
                text = EXCEEDED.format(count=event.maxRetries)
                plan.rows.append(_failed(event, ref, text, now, file.file_id))
            else:
                if file.file_id not in made:
                    extractor = wanted.extractors.get(file.client_application_id)
                    new = _new_job(event, file, extractor, len(jobs) + 1, trace_parent, now)
                    plan.jobs.append(new)
                    made[file.file_id] = new.job_id
                plan.rows.append(_row(event, ref, file.file_id, made[file.file_id]))
        return plan


def _resolve(tx: Transaction, event: ExtractionRetryEvent) -> dict[str, File | None]:
    """The file of every id, in the order sent; later attempts keep what the first one resolved."""
    earlier = {
        row.file_ref: row.file_id for row in tx.retries.files(event.requestId, 1) if row.file_id
    }
    return {
        ref: tx.files.get(earlier[ref])
        if ref in earlier
        else tx.files.resolve(ref, event.clientApplicationId)
        for ref in dict.fromkeys(event.fileIds)
    }


def _asked(event: ExtractionRetryEvent, jobs: Sequence[Job]) -> Asked:
    attempt = attempt_id(event.requestId, event.retryAttempt)
    return Asked(jobs, [*(job.job_id for job in jobs), attempt])


def _request(
    event: ExtractionRetryEvent, trace_parent: str, pending: int, now: datetime
) -> RetryRequest:
    return RetryRequest(
        request_id=event.requestId,
        retry_attempt=event.retryAttempt,
        max_retries=event.maxRetries,
        reason=event.reason,
        initiated_by=event.initiatedBy,
        client_application_id=event.clientApplicationId,
        asked_at=event.timestamp,
        created_at=now,
        trace_parent=trace_parent,
        pending=pending,
        metadata=event.metadata,
    )


def _new_job(
    event: ExtractionRetryEvent,
    file: File,
    extractor: Extractor | None,
    attempt: int,
    trace_parent: str,
    now: datetime,
) -> NewJob:
    return NewJob(
        job_id=retry_job_id(event.requestId, event.retryAttempt, file.file_id),
        file=file,
        extractor=extractor,
        attempt=attempt,
        at=now,
        trace_parent=trace_parent,
        request_id=event.requestId,
        kind=EventKind.RETRY,
        actor=event.initiatedBy,
        detail={"reason": event.reason, "retryAttempt": event.retryAttempt},
    )


def _row(event: ExtractionRetryEvent, ref: str, file_id: UUID, job_id: UUID) -> RetryFile:
    return RetryFile(event.requestId, event.retryAttempt, ref, file_id, job_id)


def _settled(event: ExtractionRetryEvent, ref: str, job: Job, now: datetime) -> RetryFile:
    succeeded = job.status is JobStatus.SUCCEEDED
    return RetryFile(
        event.requestId,
        event.retryAttempt,
        ref,
        job.file_id,
        job.job_id,
        FileOutcome.SUCCEEDED if succeeded else FileOutcome.PENDING,
        decided_at=now if succeeded else None,
    )


def _failed(
    event: ExtractionRetryEvent, ref: str, error: str, now: datetime, file_id: UUID | None = None
) -> RetryFile:
    return RetryFile(
        event.requestId,
        event.retryAttempt,
        ref,
        file_id,
        outcome=FileOutcome.FAILED,
        error=error,
        decided_at=now,
    )
