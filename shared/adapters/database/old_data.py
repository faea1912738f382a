"""Rows of finished work that nobody asks for any more: found, and removed with what is theirs."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, exists, or_, select, true

from shared.adapters.database.tables import (
    file_event,
    job,
    job_call,
    outbox,
    retry_file,
    retry_request,
)
from shared.domain.events import SYSTEM
from shared.domain.retries import FileOutcome


class SqlOldData:
    """Implements `ports.OldData` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def requests(self, before: datetime, limit: int) -> Sequence[str]:
        """Requests whose every attempt was closed before, and that no attempt is to follow."""
        statement = (
            select(retry_request.c.RequestID)
            .distinct()
            .where(retry_request.c.ClosedAt < before, ~_request_goes_on(before))
            .limit(limit)
        )
        return list(self._connection.execute(statement).scalars())

    def remove_requests(self, request_ids: Sequence[str]) -> None:
        """Remove requests with all their attempts and files."""
        for table in (retry_file, retry_request):
            of_them = table.c.RequestID.in_(request_ids)
            self._connection.execute(delete(table).where(of_them))

    def files(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Files whose every job ended before, has nothing to send, and is in no request."""
        statement = (
            select(job.c.FileID)
            .distinct()
            .where(job.c.CompletedAt < before, ~_is_needed(before))
            .limit(limit)
        )
        return list(self._connection.execute(statement).scalars())

    def remove_jobs(self, file_id: UUID, before: datetime) -> int:
        """Remove all jobs of a file, if that still holds, with what is theirs; how many.

        What a person did stays as file events. The caller has locked the file's jobs.
        """
        statement = select(job.c.JobID).where(job.c.FileID == file_id)
        if self._connection.execute(statement.where(_is_needed(before))).first():
            return 0
        not_by_people = or_(file_event.c.Actor.is_(None), file_event.c.Actor == SYSTEM)
        self._remove(file_event, file_id, not_by_people)
        self._remove(outbox, file_id)
        self._remove(job_call, file_id)
        removed = delete(job).where(job.c.FileID == file_id).returning(job.c.JobID)
        return len(self._connection.execute(removed).all())

    def _remove(self, table: Table, file_id: UUID, *more: ColumnElement[bool]) -> None:
        """Remove what is of the file's jobs."""
        of_file = select(job.c.JobID).where(job.c.FileID == file_id)
        self._connection.execute(delete(table).where(table.c.JobID.in_(of_file), *more))


def _request_goes_on(before: datetime) -> ColumnElement[bool]:
    """Whether an attempt of the request is open or young, or is to have a successor that is not
    there.
    """
    attempt, following = retry_request.alias("attempt"), retry_request.alias("following")
    has_following = exists().where(
        following.c.RequestID == attempt.c.RequestID,
        following.c.RetryAttempt == attempt.c.RetryAttempt + 1,
    )
    may_pass = exists().where(
        retry_file.c.RequestID == attempt.c.RequestID,
        retry_file.c.RetryAttempt == attempt.c.RetryAttempt,
        retry_file.c.Outcome == FileOutcome.FAILED.value,
        retry_file.c.Retryable == true(),
    )
    is_followed = and_(attempt.c.RetryAttempt < attempt.c.MaxRetries, may_pass, ~has_following)
    young = or_(attempt.c.ClosedAt.is_(None), attempt.c.ClosedAt >= before)
    return exists().where(attempt.c.RequestID == retry_request.c.RequestID, or_(young, is_followed))


def _is_needed(before: datetime) -> ColumnElement[bool]:
    """Whether any job of the file is active or young, has something to send, or is in a request."""
    other = job.alias("other")
    young = or_(other.c.CompletedAt.is_(None), other.c.CompletedAt >= before)
    unsent = exists().where(outbox.c.JobID == other.c.JobID, outbox.c.SentAt.is_(None))
    in_request = exists().where(retry_file.c.JobID == other.c.JobID)
    return exists().where(other.c.FileID == job.c.FileID, or_(young, unsent, in_request))
