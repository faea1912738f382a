"""Retry requests: their attempts, the files of each, and when the next attempt is due."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from shared.domain.jobs import JOB_NAMESPACE, Job, JobStatus


class FileOutcome(StrEnum):
    """How one file of an attempt stands."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True)
class RetryRequest:
    """A row of `[extractor].[RetryRequest]`: one attempt of a request.

    `asked_at` is the event's time, `pending` the number of undecided files, `closed_at` when it
    reached none, `next_attempt_at` when the following attempt is due.
    """

    request_id: str
    retry_attempt: int
    max_retries: int
    reason: str
    initiated_by: str
    client_application_id: str
    asked_at: datetime
    created_at: datetime
    trace_parent: str
    pending: int
    closed_at: datetime | None = None
    next_attempt_at: datetime | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True)
class RetryFile:
    """A row of `[extractor].[RetryFile]`: one id of an attempt, as sent, and what became of it."""

    request_id: str
    retry_attempt: int
    file_ref: str
    file_id: UUID | None = None
    job_id: UUID | None = None
    outcome: FileOutcome = FileOutcome.PENDING
    error: str | None = None
    retryable: bool = False
    decided_at: datetime | None = None


@dataclass(frozen=True)
class RetryPolicy:
    """When failed extractions are tried again; `max_retries` is for requests of our own."""

    automatic: bool
    first_backoff: timedelta
    longest_backoff: timedelta
    max_retries: int = 3


def retry_job_id(request_id: str, retry_attempt: int, file_id: UUID) -> UUID:
    """The JobID of a file in an attempt of a request: a repeat of the message is the same job."""
    return uuid5(JOB_NAMESPACE, f"{request_id}:{retry_attempt}:{file_id}")


def automatic_request_id(job_id: UUID) -> str:
    """The request that a failed first extraction makes by itself."""
    return str(uuid5(JOB_NAMESPACE, str(job_id)))


def attempt_id(request_id: str, retry_attempt: int) -> UUID:
    """Under which the outbox keeps what an attempt itself announces."""
    return uuid5(JOB_NAMESPACE, f"{request_id}:{retry_attempt}")


def backoff(policy: RetryPolicy, failed_attempt: int, jitter: float) -> timedelta:
    """How long after an attempt the next one is due: doubled each time, capped, and spread.

    `jitter` from 0 to 1 adds up to a fifth, so that what failed together does not return together.
    """
    doubled: timedelta = policy.first_backoff * 2 ** min(failed_attempt - 1, 20)
    return min(doubled, policy.longest_backoff) * (1 + 0.2 * jitter)


def settled_by(jobs: Sequence[Job], asked_at: datetime) -> Job | None:
    """The file's job that answers a retry asked for at `asked_at`; None: extract it again.

    A success since then is an answer; an active job will give one, and is adopted, so that two
    requests at once call the extractor once.
    """
    succeeded = [job for job in jobs if job.status is JobStatus.SUCCEEDED]
    since = [job for job in succeeded if job.completed_at and job.completed_at >= asked_at]
    active = [job for job in jobs if job.active]
    return next(iter(since + active), None)


def may_pass(file: RetryFile) -> bool:
    """Whether a file failed for a reason that another attempt may not meet."""
    return file.outcome is FileOutcome.FAILED and file.retryable


def has_successor(attempt: RetryRequest, files: Iterable[RetryFile]) -> bool:
    """Whether another attempt follows one that is closed with these files."""
    return attempt.retry_attempt < attempt.max_retries and any(map(may_pass, files))


class RequestState(StrEnum):
    """How a whole request stands."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"


def request_state(
    latest: RetryRequest, files: Mapping[str, RetryFile], begun: bool
) -> RequestState:
    """The state of a request from its latest attempt and the last row of every id.

    `begun`: whether any of the latest attempt's jobs has left the queue.
    """
    if latest.closed_at is None:
        return RequestState.RUNNING if begun else RequestState.QUEUED
    if latest.next_attempt_at is not None or has_successor(latest, files.values()):
        return RequestState.WAITING
    found = {file.outcome for file in files.values()}
    if found == {FileOutcome.SUCCEEDED}:
        return RequestState.SUCCEEDED
    return RequestState.PARTIAL if FileOutcome.SUCCEEDED in found else RequestState.FAILED
