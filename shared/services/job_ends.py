"""What a job's end means for retries, decided in the very transaction that ends it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.contracts.outgoing import OutgoingMessage
from shared.contracts.retry import (
    ExtractionRetryEvent,
    ExtractionRetryResult,
    retry_message,
    retry_result_message,
)
from shared.contracts.wire import format_timestamp
from shared.domain.events import SYSTEM, EventKind, FileEvent
from shared.domain.jobs import MESSAGE_LIMIT, Job, JobStatus, cut_message
from shared.domain.retries import FileOutcome, RetryFile, automatic_request_id, backoff
from shared.services.job_rules import JobRules
from shared.services.ports import Transaction

AUTOMATIC_REASON = "extraction_failed"
ERROR_CHARACTERS = 30_000
"""Of all errors in a result together: JSON takes up to six bytes for each."""


@dataclass(frozen=True)
class JobEnd:
    """How a job ended, and whether another extraction may go better."""

    status: JobStatus
    at: datetime
    message: str | None
    retryable: bool


@dataclass(frozen=True)
class Settled:
    """What follows from an end: whether the file will be extracted again, and what to send."""

    will_retry: bool
    messages: Sequence[OutgoingMessage]


def settle_end(tx: Transaction, job: Job, end: JobEnd, rules: JobRules) -> Settled:
    """Decide the files that waited for this job, and ask for a first retry when nobody has.

    One failure never hides another: every attempt that waited is counted down by itself, and the
    job that ends last closes it.
    """
    succeeded = end.status is JobStatus.SUCCEEDED
    retryable = end.retryable and end.status is JobStatus.FAILED
    decided = Counter(tx.retries.decide(job.job_id, succeeded, _error(end), retryable, end.at))
    results = [
        result
        for (request_id, attempt), count in sorted(decided.items())
        if tx.retries.count_down(request_id, attempt, count) == 0
        and (result := close_attempt(tx, request_id, attempt, end.at, rules))
    ]
    if not retryable:
        return Settled(False, results)
    if decided:
        return Settled(any(_has_another(tx, *attempt) for attempt in decided), results)
    if job.request_id is not None or not rules.retries.automatic:
        return Settled(False, results)
    return Settled(True, [_first_retry(tx, job, end, rules)])


def close_attempt(
    tx: Transaction, request_id: str, attempt: int, at: datetime, rules: JobRules
) -> OutgoingMessage | None:
    """Close an attempt that has nothing pending; the message of its result, once."""
    request = tx.retries.get(request_id, attempt)
    if request is None or not tx.retries.close(request_id, attempt, at):
        return None
    files = tx.retries.files(request_id, attempt)
    succeeded = [file.file_ref for file in files if file.outcome is FileOutcome.SUCCEEDED]
    failed = [file for file in files if file.outcome is FileOutcome.FAILED]
    result = ExtractionRetryResult(
        requestId=request_id,
        fileIds=[file.file_ref for file in files],
        successfulIds=succeeded,
        failedIds=[file.file_ref for file in failed],
        errors=_errors(failed),
        timestamp=at,
        clientApplicationId=request.client_application_id,
    )
    return retry_result_message(result, attempt, rules.result_topic, request.trace_parent)


def _errors(failed: Sequence[RetryFile]) -> dict[str, str]:
    """Why each file failed; cut so that any number of texts fits into one message."""
    limit = min(MESSAGE_LIMIT, ERROR_CHARACTERS // max(len(failed), 1))
    return {file.file_ref: cut_message(file.error or "", limit) for file in failed}


def _error(end: JobEnd) -> str | None:
    if end.status is JobStatus.SUCCEEDED:
        return None
    return end.message or f"The job was {end.status.lower()}"


def _has_another(tx: Transaction, request_id: str, attempt: int) -> bool:
    request = tx.retries.get(request_id, attempt)
    return request is not None and attempt < request.max_retries


def _first_retry(tx: Transaction, job: Job, end: JobEnd, rules: JobRules) -> OutgoingMessage:
    call, file = tx.calls.get(job.job_id), tx.files.get(job.file_id)
    due = end.at + backoff(rules.retries, 1, rules.jitter())
    event = ExtractionRetryEvent(
        requestId=automatic_request_id(job.job_id),
        fileIds=[str(job.file_id)],
        reason=AUTOMATIC_REASON,
        retryAttempt=1,
        maxRetries=rules.retries.max_retries,
        clientApplicationId=file.client_application_id if file else "default",
        initiatedBy=SYSTEM,
        timestamp=end.at,
    )
    tx.events.add(
        FileEvent(
            file_id=job.file_id,
            at=end.at,
            kind=EventKind.RETRY,
            source="extractor-service",
            job_id=job.job_id,
            request_id=event.requestId,
            actor=SYSTEM,
            detail={"reason": AUTOMATIC_REASON, "due": format_timestamp(due)},
        )
    )
    return retry_message(event, rules.retry_topic, call.trace_parent if call else "", due)
