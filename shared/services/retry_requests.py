"""What became of retry requests: for whoever asked, and for operators."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.jobs import Job, JobStatus
from shared.domain.retries import (
    FileOutcome,
    RequestState,
    RetryFile,
    RetryRequest,
    request_state,
)
from shared.services.ports import Database, Transaction

LONGEST_LIST = 100


@dataclass(frozen=True)
class AttemptView:
    """One attempt with its files, as sent, and the jobs they wait or waited for."""

    request: RetryRequest
    files: Sequence[RetryFile]
    jobs: Sequence[Job]


@dataclass(frozen=True)
class RequestView:
    """A request with all its attempts, first to last."""

    state: RequestState
    attempts: Sequence[AttemptView]

    @property
    def first(self) -> RetryRequest:
        return self.attempts[0].request

    @property
    def next_attempt_at(self) -> datetime | None:
        latest = self.attempts[-1].request
        return latest.next_attempt_at if self.state is RequestState.WAITING else None


class RetryRequests:
    """Reads requests; writes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, request_id: str) -> RequestView | None:
        """One request; None while no attempt of it has arrived. Raises TransientError."""
        return self._database.run(lambda tx: view_request(tx, request_id))

    def search(
        self,
        initiated_by: str | None = None,
        since: datetime | None = None,
        state: RequestState | None = None,
    ) -> Sequence[RequestView]:
        """The newest requests first, at most 100. Raises TransientError."""
        return self._database.run(lambda tx: _search(tx, initiated_by, since, state))


def view_request(tx: Transaction, request_id: str) -> RequestView | None:
    """A request within a transaction."""
    attempts = [_view_attempt(tx, request) for request in tx.retries.attempts(request_id)]
    if not attempts:
        return None
    outcomes = {file.file_ref: file.outcome for attempt in attempts for file in attempt.files}
    latest = attempts[-1]
    begun = any(job.status is not JobStatus.QUEUED for job in latest.jobs) or any(
        file.outcome is not FileOutcome.PENDING for file in latest.files
    )
    return RequestView(request_state(latest.request, outcomes, begun), attempts)


def _view_attempt(tx: Transaction, request: RetryRequest) -> AttemptView:
    files = tx.retries.files(request.request_id, request.retry_attempt)
    ids = dict.fromkeys(file.job_id for file in files if file.job_id)
    return AttemptView(request, files, [job for job_id in ids if (job := tx.jobs.get(job_id))])


def _search(
    tx: Transaction, initiated_by: str | None, since: datetime | None, state: RequestState | None
) -> Sequence[RequestView]:
    found = tx.retries.requests(initiated_by, since, LONGEST_LIST)
    views = [view for each in found if (view := view_request(tx, each.request_id))]
    return [view for view in views if state in {None, view.state}]
