"""Why messages became dead letters, in words: their contracts first, then what they name."""

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatchmethod
from uuid import UUID

from shared.contracts.file_accepted import FileAccepted
from shared.contracts.incoming import READERS, AttemptResult, Content, DeadLetter, Source
from shared.contracts.job_status import StatusReport
from shared.contracts.retry import ExtractionRetryEvent
from shared.domain.acceptance import satisfying_job
from shared.domain.dead_letters import Explanation
from shared.domain.errors import PermanentError, TransientError
from shared.domain.jobs import first_job_id
from shared.domain.retention import Retention
from shared.services.ports import Clock, Database, Transaction

VALID = "Valid: whichever part was out of reach then, it can be handled again"
UNCHECKED = "It keeps its contract; what it names cannot be looked up without the database"


class ExplainDeadLetters:
    """Validates dead letters again, and looks up what they name in one unit of work."""

    def __init__(self, database: Database, retention: Retention, clock: Clock) -> None:
        self._database = database
        self._retention = retention
        self._clock = clock

    def __call__(self, source: Source, letters: Sequence[DeadLetter]) -> Sequence[Explanation]:
        """One explanation each. With the database out of reach, `unchecked` for the valid ones."""
        read = [_read(source, letter) for letter in letters]
        try:
            return self._database.run(
                lambda tx: [self._explain(tx, *each) for each in zip(read, letters, strict=True)]
            )
        except TransientError:
            unchecked = Explanation("unchecked", UNCHECKED)
            return [each if isinstance(each, Explanation) else unchecked for each in read]

    def _explain(
        self, tx: Transaction, content: Content | Explanation, letter: DeadLetter
    ) -> Explanation:
        if isinstance(content, Explanation):
            return content
        return self._of(content, tx, letter)

    @singledispatchmethod
    def _of(self, content: Content, tx: Transaction, letter: DeadLetter) -> Explanation:
        raise NotImplementedError(type(content).__name__)

    @_of.register
    def _(self, accepted: FileAccepted, tx: Transaction, letter: DeadLetter) -> Explanation:
        file_id, enqueued_at = accepted.FileID, letter.message.enqueued_at
        about = Explanation("valid", VALID, True, (file_id,))
        if self._retention.is_old(enqueued_at, self._clock()):
            return _too_old(about, self._retention.waited_too_long("FileAccepted"))
        file = tx.files.get(file_id)
        if file is None:
            text = f"File {file_id} has no row in [file].[File]"
            return replace(about, code="file_unknown", text=text, can_be_handled=False)
        job_id = first_job_id(file_id, file.document_hash)
        job = satisfying_job(tx.jobs.of_file(file_id), job_id, enqueued_at)
        if job is None and self._retention.may_be_forgotten(accepted.Timestamp, self._clock()):
            return _too_old(about, self._retention.said_too_long_ago("FileAccepted"))
        if job is None:
            return about
        text = f"Valid, and answered: job {job.job_id} is {job.status}; no other one is made"
        return replace(about, code="answered", text=text, job_id=job.job_id)

    @_of.register
    def _(self, report: StatusReport, tx: Transaction, letter: DeadLetter) -> Explanation:
        job = tx.jobs.get(report.job_id)
        if job is None:
            text = f"There is no job {report.job_id}, of which it reports {report.status}"
            return Explanation("job_unknown", text, job_id=report.job_id)
        about = Explanation(
            "valid", VALID, True, (job.file_id,), job.job_id, request_id=job.request_id
        )
        if job.active:
            return about
        text = f"Valid, but job {job.job_id} has ended as {job.status}; that does not change"
        return replace(about, code="answered", text=text)

    @_of.register
    def _(self, event: ExtractionRetryEvent, tx: Transaction, letter: DeadLetter) -> Explanation:
        files = [tx.files.resolve(ref, event.clientApplicationId) for ref in event.fileIds]
        ids = tuple(dict.fromkeys(file.file_id for file in files if file))
        about = Explanation("valid", VALID, True, ids, request_id=event.requestId)
        attempts = tx.retries.attempts(event.requestId)
        if not attempts and self._retention.may_be_forgotten(event.timestamp, self._clock()):
            return _too_old(about, self._retention.said_too_long_ago("ExtractionRetryEvent"))
        if event.retryAttempt not in {attempt.retry_attempt for attempt in attempts}:
            return about
        text = (
            f"Valid, and answered: attempt {event.retryAttempt} of request {event.requestId}"
            " has been made; no job is made twice"
        )
        return replace(about, code="answered", text=text)

    @_of.register
    def _(self, ended: AttemptResult, tx: Transaction, letter: DeadLetter) -> Explanation:
        request_id = ended.result.requestId
        if tx.retries.get(request_id, ended.attempt) is None:
            text = f"Attempt {ended.attempt} of request {request_id} is not known"
            return Explanation("attempt_unknown", text, request_id=request_id)
        rows = tx.retries.files(request_id, ended.attempt)
        ids: dict[UUID, None] = dict.fromkeys(row.file_id for row in rows if row.file_id)
        return Explanation("valid", VALID, True, tuple(ids), request_id=request_id)


def _too_old(about: Explanation, text: str) -> Explanation:
    return replace(about, code="message_too_old", text=text, can_be_handled=False)


def _read(source: Source, letter: DeadLetter) -> Content | Explanation:
    try:
        return READERS[source](letter.message)
    except PermanentError as error:
        return Explanation(error.code, str(error))
