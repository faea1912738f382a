"""The stage mapper: asks for retries, and for the next attempt of what may still succeed."""

import logging
from collections.abc import Sequence
from uuid import UUID, uuid4

from shared.contracts.outgoing import trace_parent_of
from shared.contracts.retry import ExtractionRetryEvent, ExtractionRetryResult, retry_message
from shared.domain.errors import NotYetError
from shared.domain.retries import RetryRequest, attempt_id, backoff, has_successor, may_pass
from shared.services.job_rules import JobRules
from shared.services.ports import Clock, Database, Publisher, Transaction
from shared.telemetry import log_event

logger = logging.getLogger(__name__)


class StageMapper:
    """Publishes ExtractionRetryEvents: at once when someone asks, later after a failed attempt."""

    def __init__(
        self, database: Database, publisher: Publisher, rules: JobRules, clock: Clock
    ) -> None:
        self._database = database
        self._publisher = publisher
        self._rules = rules
        self._clock = clock

    def retry_extraction(
        self,
        file_id: str,
        client_application_id: str,
        reason: str,
        initiated_by: str,
        request_id: str | None = None,
        trace_parent: str | None = None,
    ) -> str:
        """Ask for one file, by document hash or FileID; answers the request id.

        Raises TransientError when it could not be sent.
        """
        return self.retry_extraction_batch(
            [file_id], client_application_id, reason, initiated_by, request_id, trace_parent
        )

    def retry_extraction_batch(
        self,
        file_ids: Sequence[str],
        client_application_id: str,
        reason: str,
        initiated_by: str,
        request_id: str | None = None,
        trace_parent: str | None = None,
    ) -> str:
        """Ask for several files in one event; answers the request id.

        Raises ValueError for an empty list, TransientError when it could not be sent.
        """
        if not file_ids:
            raise ValueError("Cannot retry extraction for empty file list")
        event = ExtractionRetryEvent(
            requestId=request_id or str(uuid4()),
            fileIds=list(file_ids),
            reason=reason,
            retryAttempt=1,
            maxRetries=self._rules.retries.max_retries,
            clientApplicationId=client_application_id,
            initiatedBy=initiated_by,
            timestamp=self._clock(),
        )
        self.send_extraction_retry_event(event, trace_parent)
        return event.requestId

    def send_extraction_retry_event(
        self, event: ExtractionRetryEvent, trace_parent: str | None = None
    ) -> None:
        """Publish an event now. Raises TransientError; it may have been sent all the same."""
        trace = trace_parent_of(trace_parent)
        self._publisher.publish(retry_message(event, self._rules.retry_topic, trace))
        log_event(
            logger,
            f"Extraction retry event sent for {len(event.fileIds)} file(s)",
            requestId=event.requestId,
            fileIds=event.fileIds,
            reason=event.reason,
            retryAttempt=event.retryAttempt,
            clientApplicationId=event.clientApplicationId,
        )

    def ask_for_next_attempt(self, result: ExtractionRetryResult, attempt: int) -> UUID | None:
        """Put the next attempt of what failed and may pass into the outbox, due after a backoff.

        Answers the id under which the outbox keeps it; None when what failed failed for good, or
        files of the attempt are undecided still.
        A repeat changes nothing. Raises NotYetError for an unknown attempt, TransientError.
        """
        return self.continue_attempt(result.requestId, attempt)

    def continue_attempt(self, request_id: str, attempt: int) -> UUID | None:
        """Likewise, for an attempt whose result was lost."""
        return self._database.run(lambda tx: self._next(tx, request_id, attempt))

    @staticmethod
    def kept_by(request_id: str, attempt: int) -> UUID:
        """Under which the outbox keeps what an attempt itself announces."""
        return attempt_id(request_id, attempt)

    def _next(self, tx: Transaction, request_id: str, attempt: int) -> UUID | None:
        request = tx.retries.get(request_id, attempt)
        if request is None:
            raise NotYetError(f"Attempt {attempt} of request {request_id} is not known")
        files = tx.retries.files(request_id, attempt)
        if request.closed_at is None or not has_successor(request, files):
            return None
        kept_by = attempt_id(request_id, attempt)
        if request.next_attempt_at is None:
            failed = [file.file_ref for file in files if may_pass(file)]
            self._schedule(tx, request, failed, kept_by)
        return kept_by

    def _schedule(
        self, tx: Transaction, request: RetryRequest, failed: list[str], kept_by: UUID
    ) -> None:
        now = self._clock()
        due = now + backoff(self._rules.retries, request.retry_attempt, self._rules.jitter())
        event = ExtractionRetryEvent(
            requestId=request.request_id,
            fileIds=failed,
            reason=request.reason,
            retryAttempt=request.retry_attempt + 1,
            maxRetries=request.max_retries,
            clientApplicationId=request.client_application_id,
            initiatedBy=request.initiated_by,
            timestamp=now,
            metadata=request.metadata,
        )
        message = retry_message(event, self._rules.retry_topic, request.trace_parent, due)
        tx.outbox.add(message, kept_by)
        tx.retries.schedule_next(request.request_id, request.retry_attempt, due)
