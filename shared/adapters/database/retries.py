"""Rows of `[extractor].[RetryRequest]` and `[extractor].[RetryFile]`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Row, case, exists, insert, select, true, update

from shared.adapters.database.jobs import read_job
from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import job, retry_file, retry_request
from shared.adapters.database.transient import conflicts
from shared.domain.jobs import ENDS, Job, JobStatus
from shared.domain.retries import FileOutcome, RetryFile, RetryRequest


class SqlRetries:
    """Implements `ports.Retries` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, request: RetryRequest, files: Sequence[RetryFile]) -> None:
        """Insert an attempt with its files. Raises ConflictError when it is there.

        PermanentError when a text does not fit.
        """
        file_rows = [_file_row(position, file) for position, file in enumerate(files)]
        with conflicts():
            self._connection.execute(insert(retry_request).values(_request_row(request)))
        if file_rows:
            self._connection.execute(insert(retry_file), file_rows)

    def get(self, request_id: str, retry_attempt: int) -> RetryRequest | None:
        statement = select(retry_request).where(*_is(request_id, retry_attempt))
        row = self._connection.execute(statement).first()
        return _request(row) if row else None

    def files(self, request_id: str, retry_attempt: int) -> Sequence[RetryFile]:
        """The attempt's files, in the order they were sent."""
        statement = (
            select(retry_file)
            .where(retry_file.c.RequestID == request_id, retry_file.c.RetryAttempt == retry_attempt)
            .order_by(retry_file.c.Position)
        )
        return [_file(row) for row in self._connection.execute(statement)]

    def of_job(self, job_id: UUID) -> Sequence[RetryFile]:
        """The files of all attempts that wait or waited for a job."""
        statement = (
            select(retry_file)
            .where(retry_file.c.JobID == job_id)
            .order_by(retry_file.c.RequestID, retry_file.c.RetryAttempt, retry_file.c.Position)
        )
        return [_file(row) for row in self._connection.execute(statement)]

    def attempts(self, *request_ids: str) -> Sequence[RetryRequest]:
        """All attempts of these requests, each request's first to last."""
        statement = (
            select(retry_request)
            .where(retry_request.c.RequestID.in_(request_ids))
            .order_by(retry_request.c.RequestID, retry_request.c.RetryAttempt)
        )
        return [_request(row) for row in self._connection.execute(statement)]

    def all_files(self, *request_ids: str) -> Sequence[RetryFile]:
        """The files of all attempts of these requests, each attempt's in the order sent."""
        statement = (
            select(retry_file)
            .where(retry_file.c.RequestID.in_(request_ids))
            .order_by(retry_file.c.RequestID, retry_file.c.RetryAttempt, retry_file.c.Position)
        )
        return [_file(row) for row in self._connection.execute(statement)]

    def begun(self, *request_ids: str) -> frozenset[str]:
        """Those of these requests with an open attempt of which a job has left the queue."""
        statement = (
            select(retry_file.c.RequestID)
            .distinct()
            .join(
                retry_request,
                (retry_request.c.RequestID == retry_file.c.RequestID)
                & (retry_request.c.RetryAttempt == retry_file.c.RetryAttempt),
            )
            .join(job, job.c.JobID == retry_file.c.JobID)
            .where(
                retry_file.c.RequestID.in_(request_ids),
                retry_request.c.ClosedAt.is_(None),
                job.c.Status != JobStatus.QUEUED.value,
            )
        )
        return frozenset(row.RequestID for row in self._connection.execute(statement))

    def decide(
        self, job_id: UUID, succeeded: bool, error: str | None, retryable: bool, at: datetime
    ) -> Sequence[tuple[str, int]]:
        """Decide the undecided files that wait for this job.

        Answers the (request id, attempt) of every row decided, in key order, once for each row.
        `error` and `retryable` are kept of a failure.
        """
        outcome = FileOutcome.SUCCEEDED if succeeded else FileOutcome.FAILED
        statement = (
            update(retry_file)
            .where(retry_file.c.JobID == job_id, retry_file.c.DecidedAt.is_(None))
            .values(
                Outcome=outcome.value,
                Error=None if succeeded else error,
                Retryable=retryable and not succeeded,
                DecidedAt=at,
            )
            .returning(retry_file.c.RequestID, retry_file.c.RetryAttempt)
        )
        return sorted(
            (row.RequestID, row.RetryAttempt) for row in self._connection.execute(statement)
        )

    def count_down(self, request_id: str, retry_attempt: int, decided: int) -> int:
        """Take `decided` from Pending and answer what is left, in one statement.

        The row stays locked until the end of the transaction, so one of many reaches zero.
        """
        pending = retry_request.c.Pending
        statement = (
            update(retry_request)
            .where(*_is(request_id, retry_attempt))
            .values(Pending=case((pending > decided, pending - decided), else_=0))
            .returning(pending)
        )
        left: int = self._connection.execute(statement).scalar_one()
        return left

    def close(self, request_id: str, retry_attempt: int, at: datetime) -> bool:
        """Guarded: close an open attempt that has nothing pending. False: it was closed."""
        statement = (
            update(retry_request)
            .where(
                *_is(request_id, retry_attempt),
                retry_request.c.ClosedAt.is_(None),
                retry_request.c.Pending == 0,
            )
            .values(ClosedAt=at)
            .returning(retry_request.c.RequestID)
        )
        return self._connection.execute(statement).first() is not None

    def undecided_of_ended_jobs(self, limit: int) -> Sequence[Job]:
        """Ended jobs that undecided files still wait for."""
        waited_for = exists().where(
            retry_file.c.JobID == job.c.JobID, retry_file.c.DecidedAt.is_(None)
        )
        statement = select(job).where(job.c.Status.in_(sorted(ENDS)), waited_for).limit(limit)
        return [read_job(row) for row in self._connection.execute(statement)]

    def open_and_decided(self, limit: int) -> Sequence[tuple[str, int]]:
        """Attempts that are open although nothing is pending."""
        statement = (
            select(retry_request.c.RequestID, retry_request.c.RetryAttempt)
            .where(retry_request.c.ClosedAt.is_(None), retry_request.c.Pending == 0)
            .limit(limit)
        )
        return [(row.RequestID, row.RetryAttempt) for row in self._connection.execute(statement)]

    def closed_without_successor(self, before: datetime, limit: int) -> Sequence[tuple[str, int]]:
        """Attempts closed before, within bounds, with retryable failures and no next attempt."""
        may_pass = exists().where(
            retry_file.c.RequestID == retry_request.c.RequestID,
            retry_file.c.RetryAttempt == retry_request.c.RetryAttempt,
            retry_file.c.Outcome == FileOutcome.FAILED.value,
            retry_file.c.Retryable == true(),
        )
        statement = (
            select(retry_request.c.RequestID, retry_request.c.RetryAttempt)
            .where(
                retry_request.c.ClosedAt < before,
                retry_request.c.NextAttemptAt.is_(None),
                retry_request.c.RetryAttempt < retry_request.c.MaxRetries,
                may_pass,
            )
            .limit(limit)
        )
        return [(row.RequestID, row.RetryAttempt) for row in self._connection.execute(statement)]

    def schedule_next(self, request_id: str, retry_attempt: int, at: datetime) -> None:
        """Note when the attempt after this one is due; the first time noted stays.

        Its message stands in the outbox once, with that time.
        """
        statement = (
            update(retry_request)
            .where(*_is(request_id, retry_attempt), retry_request.c.NextAttemptAt.is_(None))
            .values(NextAttemptAt=at)
        )
        self._connection.execute(statement)

    def requests(
        self, initiated_by: str | None, since: datetime | None, limit: int
    ) -> Sequence[RetryRequest]:
        """The latest attempt of each request, newest request first.

        A request is as old as its first attempt: a later one does not move it.
        """
        earliest, latest = retry_request.alias("earliest"), retry_request.alias("latest")
        other = retry_request.alias("other")
        of_same = select(other.c.RequestID).where(other.c.RequestID == earliest.c.RequestID)
        statement = (
            select(latest)
            .join(earliest, latest.c.RequestID == earliest.c.RequestID)
            .where(
                ~of_same.where(other.c.RetryAttempt < earliest.c.RetryAttempt).exists(),
                ~of_same.where(other.c.RetryAttempt > latest.c.RetryAttempt).exists(),
            )
            .order_by(earliest.c.AskedAt.desc(), earliest.c.RequestID)
            .limit(limit)
        )
        if initiated_by is not None:
            statement = statement.where(earliest.c.InitiatedBy == initiated_by)
        if since is not None:
            statement = statement.where(earliest.c.AskedAt >= since)
        return [_request(row) for row in self._connection.execute(statement)]


def _is(request_id: str, retry_attempt: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (
        retry_request.c.RequestID == request_id,
        retry_request.c.RetryAttempt == retry_attempt,
    )


def _request_row(request: RetryRequest) -> dict[str, Any]:
    return checked(
        retry_request,
        RequestID=request.request_id,
        RetryAttempt=request.retry_attempt,
        MaxRetries=request.max_retries,
        Reason=request.reason,
        InitiatedBy=request.initiated_by,
        ClientApplicationID=request.client_application_id,
        AskedAt=request.asked_at,
        CreatedAt=request.created_at,
        TraceParent=request.trace_parent,
        Pending=request.pending,
        ClosedAt=request.closed_at,
        NextAttemptAt=request.next_attempt_at,
        Metadata=request.metadata,
    )


def _file_row(position: int, file: RetryFile) -> dict[str, Any]:
    return checked(
        retry_file,
        RequestID=file.request_id,
        RetryAttempt=file.retry_attempt,
        Position=position,
        FileRef=file.file_ref,
        FileID=file.file_id,
        JobID=file.job_id,
        Outcome=file.outcome.value,
        Error=file.error,
        Retryable=file.retryable,
        DecidedAt=file.decided_at,
    )


def _request(row: Row[Any]) -> RetryRequest:
    return RetryRequest(
        request_id=row.RequestID,
        retry_attempt=row.RetryAttempt,
        max_retries=row.MaxRetries,
        reason=row.Reason,
        initiated_by=row.InitiatedBy,
        client_application_id=row.ClientApplicationID,
        asked_at=row.AskedAt,
        created_at=row.CreatedAt,
        trace_parent=row.TraceParent,
        pending=row.Pending,
        closed_at=row.ClosedAt,
        next_attempt_at=row.NextAttemptAt,
        metadata=row.Metadata,
    )


def _file(row: Row[Any]) -> RetryFile:
    return RetryFile(
        request_id=row.RequestID,
        retry_attempt=row.RetryAttempt,
        file_ref=row.FileRef,
        file_id=row.FileID,
        job_id=row.JobID,
        outcome=FileOutcome(row.Outcome),
        error=row.Error,
        retryable=row.Retryable,
        decided_at=row.DecidedAt,
    )
