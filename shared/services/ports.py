"""What the use cases need of the world outside. `wiring.py` gives them the real adapters."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol, TypeVar
from uuid import UUID

from shared.contracts.incoming import DeadLetter
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.entities import EntityWithDocument
from shared.domain.events import FileEvent
from shared.domain.extractor_calls import Answer, Callback
from shared.domain.extractor_health import ExtractorHealth
from shared.domain.job_search import JobFilter, Place
from shared.domain.jobs import Call, Extractor, File, Job, JobStatus, RegisteredExtractor
from shared.domain.mended import Mended
from shared.domain.retries import RetryFile, RetryRequest

T = TypeVar("T")

Clock = Callable[[], datetime]
"""The time in aware UTC."""


class Jobs(Protocol):
    """Rows of `[extractor].[Job]`."""

    def get(self, job_id: UUID) -> Job | None: ...

    def of_file(self, file_id: UUID) -> Sequence[Job]:
        """All jobs of a file, oldest first."""
        ...

    def search(self, wanted: JobFilter, after: Place | None, limit: int) -> Sequence[Job]:
        """Jobs newest first, going on behind a place."""
        ...

    def counts(self, wanted: JobFilter) -> Mapping[JobStatus, int]:
        """How many jobs fit, by status; a status without any is left out."""
        ...

    def active_since(self, before: datetime, limit: int) -> Sequence[Job]:
        """Active jobs that have not changed since, the longest first."""
        ...

    def lock_of_file(self, file_id: UUID) -> Sequence[Job]:
        """All jobs of a file, oldest first, under a lock that keeps other deciders out."""
        ...

    def add(self, job: Job) -> None:
        """Insert a job. Raises ConflictError when the file has an active job for this extractor."""
        ...

    def change(
        self,
        job_id: UUID,
        status: JobStatus,
        at: datetime,
        message: str | None = None,
        response: str | None = None,
        only_from: JobStatus | None = None,
    ) -> bool:
        """Guarded change, from an allowed predecessor or just `only_from`. False: no change.

        Sets UpdatedAt, and CompletedAt for an end; `message` and `response` are kept when given.
        """
        ...

    def keep_response(self, job_id: UUID, response: str) -> None:
        """Store the answer to the call in ExtractorResponse, while the job is active."""
        ...


class Calls(Protocol):
    """Rows of `[extractor].[JobCall]`, one for each job."""

    def get(self, job_id: UUID) -> Call | None: ...

    def add(self, call: Call) -> None: ...

    def take_lease(self, job_id: UUID, now: datetime, until: datetime) -> bool:
        """Guarded: of a Queued job that is not taken and has no live lease. False: refused."""
        ...

    def release_lease(self, job_id: UUID, until: datetime) -> None:
        """Give the lease that ends at `until` back; another's lease stays."""
        ...

    def record_taken(self, job_id: UUID, at: datetime) -> None:
        """CalledAt, one more try, no lease and no last error."""
        ...

    def record_failure(self, job_id: UUID, tried_at: datetime, error: str) -> None:
        """FirstTriedAt when it is the first, one more try, the error, no lease. DueAt stays."""
        ...

    def put_off(self, job_id: UUID, first_tried_at: datetime | None, due_at: datetime) -> None:
        """DueAt of a Queued job, and its first try as if it had been so much later.

        So that waiting for a slot, or for an extractor that is left alone, is not counted.
        """
        ...

    def overdue(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Active jobs that were taken or started, and whose DueAt lies before, the oldest first."""
        ...

    def set_due(self, job_id: UUID, due_at: datetime, status: JobStatus) -> None:
        """Guarded: DueAt of a job in this status. A job that went on keeps its own."""
        ...


class Events(Protocol):
    """Rows of `[extractor].[FileEvent]`."""

    def add(self, event: FileEvent) -> None: ...

    def of_file(self, file_id: UUID) -> Sequence[FileEvent]:
        """All that is written down about a file, in order of time."""
        ...


class Outbox(Protocol):
    """Rows of `[extractor].[Outbox]`."""

    def add(self, message: OutgoingMessage, job_id: UUID | None) -> None:
        """Insert if its topic and message id are absent."""
        ...

    def unsent(self, job_id: UUID) -> Sequence[tuple[int, OutgoingMessage]]:
        """The job's unsent rows with their row ids, in the order they were written."""
        ...

    def overdue(self, before: datetime, limit: int) -> Sequence[UUID]:
        """The ids under which rows written before are still unsent, the oldest first."""
        ...

    def purge(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` rows that were sent before; how many."""
        ...

    def mark_sent(self, row_id: int, at: datetime) -> None: ...


class Files(Protocol):
    """Rows of `[file].[File]`, which are only read."""

    def get(self, file_id: UUID) -> File | None: ...

    def resolve(self, file_ref: str, client_application_id: str) -> File | None:
        """The file that a document hash names, else a FileID.

        A hash shared by several files means the newest of this client, else the newest of all.
        """
        ...


class ExtractorHealths(Protocol):
    """Rows of `[extractor].[ExtractorHealth]`. A slot is taken while the row is locked."""

    def lock(self, extractor_id: int) -> ExtractorHealth:
        """An extractor's row under a lock, made when it is not there. Raises ConflictError."""
        ...

    def save(self, health: ExtractorHealth) -> None:
        """Write a locked row."""
        ...

    def active(self, extractor_id: int, now: datetime) -> int:
        """How many of its slots are taken: active jobs that it has, or is being given."""
        ...

    def all_active(self, now: datetime) -> Mapping[int, int]:
        """The taken slots of every extractor that has any."""
        ...

    def all(self) -> Mapping[int, ExtractorHealth]:
        """Every row, by extractor."""
        ...


class Retries(Protocol):
    """Rows of `[extractor].[RetryRequest]` and `[extractor].[RetryFile]`."""

    def add(self, request: RetryRequest, files: Sequence[RetryFile]) -> None:
        """Insert an attempt with its files. Raises ConflictError when it is there."""
        ...

    def get(self, request_id: str, retry_attempt: int) -> RetryRequest | None: ...

    def files(self, request_id: str, retry_attempt: int) -> Sequence[RetryFile]:
        """The attempt's files, in the order they were sent."""
        ...

    def of_job(self, job_id: UUID) -> Sequence[RetryFile]:
        """The files of all attempts that wait or waited for a job."""
        ...

    def attempts(self, *request_ids: str) -> Sequence[RetryRequest]:
        """All attempts of these requests, each request's first to last."""
        ...

    def all_files(self, *request_ids: str) -> Sequence[RetryFile]:
        """The files of all attempts of these requests, each attempt's in the order sent."""
        ...

    def begun(self, *request_ids: str) -> frozenset[str]:
        """Those of these requests with an open attempt of which a job has left the queue."""
        ...

    def decide(
        self, job_id: UUID, succeeded: bool, error: str | None, retryable: bool, at: datetime
    ) -> Sequence[tuple[str, int]]:
        """Decide the undecided files that wait for this job.

        Answers the (request id, attempt) of every row decided, in key order, once for each row.
        `error` and `retryable` are kept of a failure.
        """
        ...

    def count_down(self, request_id: str, retry_attempt: int, decided: int) -> int:
        """Take `decided` from Pending and answer what is left, in one statement."""
        ...

    def close(self, request_id: str, retry_attempt: int, at: datetime) -> bool:
        """Guarded: close an open attempt that has nothing pending. False: it was closed."""
        ...

    def undecided_of_ended_jobs(self, limit: int) -> Sequence[Job]:
        """Ended jobs that undecided files still wait for."""
        ...

    def open_and_decided(self, limit: int) -> Sequence[tuple[str, int]]:
        """Attempts that are open although nothing is pending."""
        ...

    def closed_without_successor(self, before: datetime, limit: int) -> Sequence[tuple[str, int]]:
        """Attempts closed before, within bounds, with retryable failures and no next attempt."""
        ...

    def schedule_next(self, request_id: str, retry_attempt: int, at: datetime) -> None:
        """Note when the attempt after this one is due."""
        ...

    def requests(
        self, initiated_by: str | None, since: datetime | None, limit: int
    ) -> Sequence[RetryRequest]:
        """The latest attempt of each request, newest request first."""
        ...


class Entities(Protocol):
    """`ExtractedEntities` and `Documents`, which belong to the documents service."""

    def get_entities_with_documents_by_ids(
        self, entity_ids: Sequence[int]
    ) -> Sequence[EntityWithDocument]:
        """The known ones of these entities with the hashes of their documents, in no order."""
        ...


class MendedCounts(Protocol):
    """Rows of `[extractor].[Reconciliation]`."""

    def add(self, counts: Mapping[str, int], at: datetime) -> None:
        """Add to the counts by kind. Raises ConflictError."""
        ...

    def all(self) -> Sequence[Mended]:
        """Every kind that was ever counted, by name."""
        ...


class OldData(Protocol):
    """Rows of finished work that nobody asks for any more."""

    def requests(self, before: datetime, limit: int) -> Sequence[str]:
        """Requests whose every attempt was closed before, and that no attempt is to follow."""
        ...

    def remove_requests(self, request_ids: Sequence[str]) -> None:
        """Remove requests with all their attempts and files."""
        ...

    def files(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Files whose every job ended before, has nothing to send, and is in no request."""
        ...

    def remove_jobs(self, file_id: UUID, before: datetime) -> int:
        """Remove all jobs of a locked file, if that still holds, with what is theirs; how many.

        What a person did stays as file events.
        """
        ...


class Registrations(Protocol):
    """Rows of `[registration].[ClientApplicationExtractor]`, which are only read."""

    def active(self, client_application_id: str) -> Sequence[Extractor]:
        """The client's active extractors, lowest id first."""
        ...

    def all(self) -> Sequence[RegisteredExtractor]:
        """Every registered extractor, lowest id first."""
        ...

    def get(self, extractor_id: int) -> Extractor | None:
        """A registered extractor, active or not."""
        ...


class Transaction(Protocol):
    """One unit of work: all of it stands in the database, or none."""

    @property
    def jobs(self) -> Jobs: ...
    @property
    def calls(self) -> Calls: ...
    @property
    def events(self) -> Events: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def files(self) -> Files: ...
    @property
    def registrations(self) -> Registrations: ...
    @property
    def extractor_healths(self) -> ExtractorHealths: ...
    @property
    def retries(self) -> Retries: ...
    @property
    def mended(self) -> MendedCounts: ...
    @property
    def old_data(self) -> OldData: ...
    @property
    def entities(self) -> Entities: ...


class ConflictError(Exception):
    """A unique index was met: someone else decided first. Decide again from fresh reads."""


class Database(Protocol):
    """Runs units of work."""

    def run(self, unit: Callable[[Transaction], T]) -> T:
        """Run `unit` in one transaction and commit it.

        Transient errors and ConflictError run the whole unit again, so it must have no effect
        outside the transaction. Raises TransientError when the bound is reached.
        """
        ...


class Publisher(Protocol):
    """Sends to topics."""

    def publish(self, message: OutgoingMessage) -> None:
        """Send one message and wait until the broker has it. Raises TransientError."""
        ...


class WaitingReports(Protocol):
    """The service's own subscription on the job-status topic, looked at without receiving."""

    def oldest(self) -> datetime | None:
        """When the oldest waiting message was enqueued, if any waits. Raises TransientError."""
        ...


class TakenDeadLetter(Protocol):
    """A dead letter under lock."""

    @property
    def letter(self) -> DeadLetter: ...

    def complete(self) -> None:
        """Take it off the queue. Raises TransientError; it may be there again then."""
        ...


class DeadLetterQueue(Protocol):
    """The dead letters of one subscription."""

    def peek(self, after: int, limit: int) -> Sequence[DeadLetter]:
        """The next ones behind a sequence number, without receiving. Raises TransientError."""
        ...

    def take(self, wanted: Collection[int]) -> AbstractContextManager[Sequence[TakenDeadLetter]]:
        """The wanted ones that can be had, in order, under lock until the block ends.

        One that is not completed by then is given back. Raises TransientError.
        """
        ...


class RegistrationApi(Protocol):
    """The registration service."""

    def extractors_of(self, client_application_id: str) -> Sequence[Extractor]:
        """The client's active extractors. Raises TransientError."""
        ...


class BlobLinks(Protocol):
    """Signs links to stored files."""

    def sign(self, container: str, name: str) -> str:
        """A read-only link to one blob. Raises TransientError; ValueError for a refused name."""
        ...


class ExtractorApi(Protocol):
    """Extractors, reached over HTTPS."""

    def call(
        self,
        url: str,
        file_url: str,
        job_id: UUID,
        trace_parent: str,
        callback: Callback | None = None,
    ) -> Answer:
        """Post the job. Every outcome is an Answer, also time-outs and refused addresses."""
        ...

    @property
    def longest_call(self) -> timedelta:
        """The bound on one whole call; a lease must be longer."""
        ...
