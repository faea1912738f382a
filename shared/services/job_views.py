"""Jobs and files as operators look at them; nothing is written here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from shared.domain.errors import NotFoundError
from shared.domain.events import FileEvent
from shared.domain.extractor_health import ExtractorHealth
from shared.domain.job_search import JobFilter, Place
from shared.domain.jobs import Call, Job, JobStatus
from shared.domain.outlook import Outlook, outlook
from shared.domain.retries import RetryFile
from shared.services.ports import Clock, Database, Transaction


@dataclass(frozen=True)
class JobPage:
    """Jobs, newest first, the counts of all that fit, and where the next page goes on."""

    jobs: Sequence[Job]
    counts: Mapping[JobStatus, int]
    next: Place | None


@dataclass(frozen=True)
class JobDetail:
    """One job with everything known of it.

    `attempts` are all jobs of its file, oldest first; `asked_by` the requests that touched it.
    """

    job: Job
    call: Call | None
    history: Sequence[FileEvent]
    attempts: Sequence[Job]
    asked_by: Sequence[RetryFile]
    next: Outlook


class JobViews:
    """Reads jobs and the timelines of files."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def search(self, wanted: JobFilter, after: Place | None, limit: int) -> JobPage:
        """One page of at most `limit` jobs. Raises TransientError."""
        return self._database.run(lambda tx: _page(tx, wanted, after, limit))

    def find(self, job_id: UUID) -> JobDetail:
        """One job. Raises NotFoundError, TransientError."""
        return self._database.run(lambda tx: self._detail(tx, job_id))

    def timeline(self, file_id: UUID) -> Sequence[FileEvent]:
        """All that is known of a file, in order of time. Raises NotFoundError, TransientError."""
        return self._database.run(lambda tx: _timeline(tx, file_id))

    def _detail(self, tx: Transaction, job_id: UUID) -> JobDetail:
        job = tx.jobs.get(job_id)
        if job is None:
            raise NotFoundError(f"There is no job {job_id}")
        call = tx.calls.get(job_id)
        return JobDetail(
            job=job,
            call=call,
            history=[each for each in tx.events.of_file(job.file_id) if each.job_id == job_id],
            attempts=tx.jobs.of_file(job.file_id),
            asked_by=tx.retries.of_job(job_id),
            next=outlook(job, call, _health(tx, job), self._clock()),
        )


def _health(tx: Transaction, job: Job) -> ExtractorHealth | None:
    if job.extractor_id is None:
        return None
    return tx.extractor_healths.all().get(job.extractor_id)


def _page(tx: Transaction, wanted: JobFilter, after: Place | None, limit: int) -> JobPage:
    found = tx.jobs.search(wanted, after, limit + 1)
    page, more = found[:limit], found[limit:]
    place = Place(page[-1].created_at, page[-1].job_id) if more else None
    return JobPage(page, tx.jobs.counts(wanted), place)


def _timeline(tx: Transaction, file_id: UUID) -> Sequence[FileEvent]:
    events = tx.events.of_file(file_id)
    if not events and tx.files.get(file_id) is None:
        raise NotFoundError(f"There is no file {file_id}")
    return events
