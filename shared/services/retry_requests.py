"""What became of retry requests: for whoever asked, and for operators."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from shared.domain.retries import RequestState, RetryFile, RetryRequest, request_state
from shared.services.ports import Database, Transaction

LONGEST_LIST = 100
MOST_SEARCHED = 1000
"""How many of the newest requests are looked through for those in one state."""


@dataclass(frozen=True)
class AttemptView:
    """One attempt with its files, as sent."""

    request: RetryRequest
    files: Sequence[RetryFile]


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
        return self._database.run(lambda tx: next(_views(tx, [request_id]), None))

    def search(
        self,
        initiated_by: str | None = None,
        since: datetime | None = None,
        state: RequestState | None = None,
    ) -> Sequence[RequestView]:
        """The newest requests first, at most 100; of a state, among the newest 1,000.

        Raises TransientError.
        """

        def search(tx: Transaction) -> Sequence[RequestView]:
            most = MOST_SEARCHED if state else LONGEST_LIST
            found = [each.request_id for each in tx.retries.requests(initiated_by, since, most)]
            views = (view for view in _views(tx, found) if state in {None, view.state})
            return list(islice(views, LONGEST_LIST))

        return self._database.run(search)


def _views(tx: Transaction, request_ids: Sequence[str]) -> Iterator[RequestView]:
    """The known ones of these requests in their order, read a hundred at a time."""
    for start in range(0, len(request_ids), LONGEST_LIST):
        chunk = request_ids[start : start + LONGEST_LIST]
        attempts, files = tx.retries.attempts(*chunk), tx.retries.all_files(*chunk)
        begun = tx.retries.begun(*chunk)
        files_of = defaultdict(list)
        for file in files:
            files_of[file.request_id, file.retry_attempt].append(file)
        attempts_of = defaultdict(list)
        for attempt in attempts:
            key = attempt.request_id, attempt.retry_attempt
            attempts_of[attempt.request_id].append(AttemptView(attempt, files_of[key]))
        for request_id in chunk:
            if request_id in attempts_of:
                yield _view(attempts_of[request_id], request_id in begun)


def _view(attempts: Sequence[AttemptView], begun: bool) -> RequestView:
    last_of_each = {file.file_ref: file for attempt in attempts for file in attempt.files}
    return RequestView(request_state(attempts[-1].request, last_of_each, begun), attempts)
