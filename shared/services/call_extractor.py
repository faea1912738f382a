"""The activity that calls a job's extractor, once however often it runs."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from shared.domain.deadlines import waited_too_long
from shared.domain.errors import TransientError
from shared.domain.events import EventKind, FileEvent
from shared.domain.extractor_calls import Answer, Callback, Reading, next_try
from shared.domain.extractor_health import after_answer, after_failure, held_until, probing
from shared.domain.jobs import Job, JobStatus
from shared.domain.tracking import Step, again, standing
from shared.services.job_changes import Change, change_job
from shared.services.job_rows import JobRows, read_rows
from shared.services.job_rules import JobRules
from shared.services.outbox import SendOutbox
from shared.services.ports import BlobLinks, Clock, Database, ExtractorApi, Transaction
from shared.telemetry import log_event

logger = logging.getLogger(__name__)

SOURCE = "call"
LEASE_MARGIN = timedelta(seconds=30)
"""How much longer than a whole HTTP call its lease lives: signing, sending and recording."""


class CallExtractor:
    """Calls a job's extractor under a lease and records what came of it."""

    def __init__(
        self,
        database: Database,
        send_outbox: SendOutbox,
        links: BlobLinks,
        extractors: ExtractorApi,
        callback: Callable[[UUID], Callback | None],
        rules: JobRules,
        clock: Clock,
    ) -> None:
        self._database = database
        self._send_outbox = send_outbox
        self._links = links
        self._extractors = extractors
        self._callback = callback
        self._rules = rules
        self._clock = clock

    def __call__(self, job_id: UUID) -> Step:
        """*ended*, *taken* until its deadline, or *again* at a time. Raises TransientError.

        The extractor is posted to only by the holder of the lease, and not again once it took the
        job, so a repeat after a crash costs at most one more post with the same idempotency key.
        """
        now = self._clock()
        known = self._database.run(lambda tx: read_rows(tx, job_id))
        step = standing(known.job, known.call, now)
        if step:
            return self._answer(known.job, step)
        if waited_too_long(known.job, self._rules.limits, now):
            reason = "The job waited too long for its extractor to be called"
            return self._fail(known.job, reason, retryable=True)
        lease = now + self._extractors.longest_call + LEASE_MARGIN
        held = self._database.run(lambda tx: self._take_lease(tx, known, now, lease))
        if held is None:
            return self._call(known, lease)
        return self._reread(job_id, otherwise=held)

    def _take_lease(
        self, tx: Transaction, known: JobRows, now: datetime, lease: datetime
    ) -> datetime | None:
        """Take a slot of the extractor and the lease; when to look again if there is none."""
        job, call = known.job, known.call
        if job.extractor_id is not None:
            health = tx.extractor_healths.lock(job.extractor_id)
            active = tx.extractor_healths.active(job.extractor_id, now)
            waited = now - job.created_at
            held = held_until(health, active, self._rules.most_active, waited, now)
            if held:
                first = call.first_tried_at
                tx.calls.put_off(job.job_id, first + (held - now) if first else None, held)
                return held
            tx.extractor_healths.save(probing(health, lease))
        return None if tx.calls.take_lease(job.job_id, now, lease) else now

    def _call(self, known: JobRows, lease: datetime) -> Step:
        try:
            self._send_outbox(known.job.job_id)
            posted_at = self._clock()
            answer = self._post(known)
            self._log(known.job, answer, posted_at)
        except TransientError:
            self._database.run(lambda tx: tx.calls.release_lease(known.job.job_id, lease))
            raise
        match answer.reading:
            case Reading.TAKEN:
                return self._record_taken(known.job, answer, posted_at)
            case Reading.PASSING:
                return self._record_passing(known, answer, posted_at)
            case Reading.REFUSED:
                reason = answer.text or "The extractor refused the job"
                return self._fail(known.job, reason, answer, posted_at)

    def _post(self, known: JobRows) -> Answer:
        if known.file is None or known.extractor is None:
            gone = "file" if known.file is None else "extractor"
            return Answer(Reading.REFUSED, f"The job's {gone} is no longer known")
        try:
            link = self._links.sign(known.file.blob_container, known.file.blob_name)
        except ValueError as error:
            return Answer(Reading.REFUSED, f"The file cannot be linked to: {error}")
        job_id = known.job.job_id
        return self._extractors.call(
            known.extractor.extraction_url,
            link,
            job_id,
            known.call.trace_parent,
            self._callback(job_id),
        )

    def _log(self, job: Job, answer: Answer, posted_at: datetime) -> None:
        log_event(
            logger,
            "Extractor called",
            jobId=job.job_id,
            fileId=job.file_id,
            extractorId=job.extractor_id,
            attempt=job.attempt,
            requestId=job.request_id,
            outcome=answer.reading.value,
            status=answer.status,
            durationMs=_milliseconds(self._clock() - posted_at),
        )

    def _record_taken(self, job: Job, answer: Answer, posted_at: datetime) -> Step:
        now = self._clock()

        def record(tx: Transaction) -> None:
            _note_answer(tx, job)
            tx.calls.record_taken(job.job_id, now)
            tx.calls.set_due(job.job_id, now + self._rules.limits.start, JobStatus.QUEUED)
            if answer.text:
                tx.jobs.keep_response(job.job_id, answer.text)
            tx.events.add(_call_event(job, answer, posted_at, now))

        self._database.run(record)
        return self._reread(job.job_id)

    def _record_passing(self, known: JobRows, answer: Answer, posted_at: datetime) -> Step:
        now = self._clock()
        job, call = known.job, known.call
        first = call.first_tried_at or posted_at
        reason = answer.text or "The extractor could not be called"
        if now - first >= self._rules.limits.call:
            reason = f"{reason}; tried {call.tries + 1} times"
            return self._fail(job, reason, answer, posted_at, retryable=True)
        due = next_try(call.tries + 1, answer.retry_after, now)

        def record(tx: Transaction) -> None:
            _note_failure(tx, job, now)
            tx.calls.record_failure(job.job_id, posted_at, reason)
            tx.calls.set_due(job.job_id, due, JobStatus.QUEUED)
            tx.events.add(_call_event(job, answer, posted_at, now))

        self._database.run(record)
        return self._reread(job.job_id, otherwise=due)

    def _fail(
        self,
        job: Job,
        reason: str,
        answer: Answer | None = None,
        posted_at: datetime | None = None,
        retryable: bool = False,
    ) -> Step:
        now = self._clock()
        change = Change(
            status=JobStatus.FAILED,
            at=now,
            source=SOURCE,
            message=reason,
            only_from=JobStatus.QUEUED,
            announce=True,
            retryable=retryable,
        )

        def fail(tx: Transaction) -> None:
            if answer and posted_at:
                if answer.reading is Reading.PASSING:
                    _note_failure(tx, job, now)
                else:
                    _note_answer(tx, job)
                tx.calls.record_failure(job.job_id, posted_at, reason)
                tx.events.add(_call_event(job, answer, posted_at, now))
            change_job(tx, job, change, self._rules)

        self._database.run(fail)
        return self._reread(job.job_id)

    def _reread(self, job_id: UUID, otherwise: datetime | None = None) -> Step:
        known = self._database.run(lambda tx: read_rows(tx, job_id))
        now = self._clock()
        step = standing(known.job, known.call, now) or again(otherwise or now)
        return self._answer(known.job, step)

    def _answer(self, job: Job, step: Step) -> Step:
        if step.kind == "ended":
            self._send_outbox(job.job_id)
        return step


def _note_answer(tx: Transaction, job: Job) -> None:
    """The extractor's row comes first in every transaction, so that no two wait in a ring."""
    if job.extractor_id is not None:
        tx.extractor_healths.save(after_answer(tx.extractor_healths.lock(job.extractor_id)))


def _note_failure(tx: Transaction, job: Job, now: datetime) -> None:
    if job.extractor_id is not None:
        health, call = tx.extractor_healths.lock(job.extractor_id), tx.calls.get(job.job_id)
        lease = call.lease_until if call else None
        tx.extractor_healths.save(after_failure(health, lease, now))


def _call_event(job: Job, answer: Answer, posted_at: datetime, now: datetime) -> FileEvent:
    return FileEvent(
        file_id=job.file_id,
        at=now,
        kind=EventKind.CALL,
        source=SOURCE,
        job_id=job.job_id,
        request_id=job.request_id,
        detail={
            "outcome": answer.reading.value,
            "status": answer.status,
            "milliseconds": _milliseconds(now - posted_at),
            "error": None if answer.reading is Reading.TAKEN else answer.text,
        },
    )


def _milliseconds(time: timedelta) -> int:
    return round(time.total_seconds() * 1000)
