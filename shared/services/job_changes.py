"""The one way in which jobs are made and change: all that belongs to it in one transaction."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from shared.contracts.job_status import (
    JobCancelled,
    JobFailed,
    JobQueued,
    JobStarted,
    JobStatusMessage,
    JobSucceeded,
)
from shared.contracts.outgoing import job_status_message
from shared.contracts.wire import format_timestamp
from shared.domain.events import EventKind, FileEvent
from shared.domain.jobs import ENDS, Call, Extractor, File, Job, JobStatus, cut_message
from shared.services.job_ends import JobEnd, Settled, settle_end
from shared.services.job_rules import JobRules
from shared.services.ports import Transaction

SOURCE = "extractor-service"
NO_EXTRACTOR = "No active extractor is registered for client application {client}"


@dataclass(frozen=True)
class Change:
    """A change of a job's status. `source` is who makes it, `message` why, `response` raw JSON.

    `announce`: whether we tell the topic; an extractor that reported there has done so itself.
    `retryable`: whether another extraction may go better than this failed one. `actor`: the person
    who asked for it.
    """

    status: JobStatus
    at: datetime
    source: str
    message: str | None = None
    response: str | None = None
    only_from: JobStatus | None = None
    announce: bool = False
    retryable: bool = False
    actor: str | None = None
    result_summary: dict[str, Any] | str | None = None


@dataclass(frozen=True)
class NewJob:
    """A job to be made for a file; `extractor` None makes one that has failed from the start.

    `kind`, `actor` and `detail` are what is written down of its making.
    """

    job_id: UUID
    file: File
    extractor: Extractor | None
    attempt: int
    at: datetime
    trace_parent: str
    request_id: str | None = None
    kind: EventKind = EventKind.ACCEPTED
    actor: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)


def add_job(tx: Transaction, new: NewJob, rules: JobRules) -> Job:
    """Insert a job with its call, event and JobQueued. Raises ConflictError on an active twin."""
    job = Job(
        job_id=new.job_id,
        file_id=new.file.file_id,
        extractor_id=new.extractor.extractor_id if new.extractor else None,
        status=JobStatus.QUEUED,
        created_at=new.at,
        updated_at=new.at,
        attempt=new.attempt,
        request_id=new.request_id,
    )
    tx.jobs.add(job)
    tx.calls.add(Call(new.job_id, new.trace_parent, due_at=new.at))
    made = _event(job, new.kind, new.at, SOURCE, new.detail)
    tx.events.add(replace(made, actor=new.actor))
    queued = JobQueued(
        JobID=job.job_id, FileID=job.file_id, ExtractorID=job.extractor_id, Timestamp=new.at
    )
    tx.outbox.add(job_status_message(queued, rules.status_topic, new.trace_parent), job.job_id)
    if new.extractor is None:
        reason = NO_EXTRACTOR.format(client=new.file.client_application_id)
        failed = Change(JobStatus.FAILED, new.at, SOURCE, message=reason, announce=True)
        change_job(tx, job, failed, rules)
    return tx.jobs.get(job.job_id) or job


def change_job(tx: Transaction, job: Job, change: Change, rules: JobRules) -> bool:
    """Make a guarded change with all that belongs to it. False: the row does not allow it.

    A refused change that is no repeat is written down as a file event, and nothing else.
    """
    message = cut_message(change.message) if change.message else None
    changed = tx.jobs.change(
        job.job_id, change.status, change.at, message, change.response, change.only_from
    )
    if not changed:
        _note_refused(tx, job.job_id, change)
        return False
    if change.status is JobStatus.STARTED:
        tx.calls.set_due(job.job_id, change.at + rules.limits.run, JobStatus.STARTED)
    detail = {"status": change.status.value, "message": message}
    event = _event(job, EventKind.STATUS, change.at, change.source, detail)
    tx.events.add(replace(event, actor=change.actor))
    settled = _settle(tx, job, change, message, rules)
    if change.announce:
        _announce(tx, job, change, settled.will_retry, rules)
    for follow_up in settled.messages:
        tx.outbox.add(follow_up, job.job_id)
    return True


def _settle(
    tx: Transaction, job: Job, change: Change, message: str | None, rules: JobRules
) -> Settled:
    if change.status not in ENDS:
        return Settled(False, [])
    return settle_end(tx, job, JobEnd(change.status, change.at, message, change.retryable), rules)


def _announce(tx: Transaction, job: Job, change: Change, will_retry: bool, rules: JobRules) -> None:
    call = tx.calls.get(job.job_id)
    trace_parent = call.trace_parent if call else ""
    properties = {"willRetry": will_retry} if change.status is JobStatus.FAILED else None
    message = job_status_message(
        status_message(job.job_id, change), rules.status_topic, trace_parent, properties
    )
    tx.outbox.add(message, job.job_id)


def status_message(job_id: UUID, change: Change) -> JobStatusMessage:
    """The message that announces a change; JobQueued is made with the job itself."""
    match change.status:
        case JobStatus.STARTED:
            return JobStarted(JobID=job_id, Timestamp=change.at)
        case JobStatus.SUCCEEDED:
            return JobSucceeded(
                JobID=job_id, Timestamp=change.at, ResultSummary=change.result_summary
            )
        case JobStatus.FAILED:
            return JobFailed(JobID=job_id, Timestamp=change.at, ErrorMessage=change.message or "")
        case JobStatus.CANCELLED:
            return JobCancelled(JobID=job_id, Timestamp=change.at, Reason=change.message or "")
        case JobStatus.QUEUED:
            raise ValueError("No job becomes Queued by a change")


def _note_refused(tx: Transaction, job_id: UUID, change: Change) -> None:
    standing = tx.jobs.get(job_id)
    if standing is None or standing.status is change.status:
        return
    detail = {
        "refused": change.status.value,
        "standing": standing.status.value,
        "message": change.message,
        "at": format_timestamp(change.at),
    }
    tx.events.add(_event(standing, EventKind.STATUS, change.at, change.source, detail))


def _event(
    job: Job, kind: EventKind, at: datetime, source: str, detail: dict[str, Any] | None = None
) -> FileEvent:
    return FileEvent(
        file_id=job.file_id,
        at=at,
        kind=kind,
        source=source,
        job_id=job.job_id,
        request_id=job.request_id,
        detail=detail or {},
    )
