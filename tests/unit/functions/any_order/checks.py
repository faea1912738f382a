"""What must hold in the database and of what was sent, whatever has happened."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import select

from shared.adapters.database import SqlDatabase, tables
from shared.adapters.database.jobs import read_job
from shared.adapters.database.retries import SqlRetries
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.jobs import ENDS, Job, JobStatus
from shared.domain.retries import FileOutcome, RetryFile, RetryRequest

RANKS = {JobStatus.QUEUED: 0, JobStatus.STARTED: 1} | dict.fromkeys(ENDS, 2)


def all_jobs(sql: SqlDatabase) -> list[Job]:
    with sql.engine.begin() as connection:
        return [read_job(row) for row in connection.execute(select(tables.job))]


def all_attempts(sql: SqlDatabase) -> list[tuple[RetryRequest, Sequence[RetryFile]]]:
    with sql.engine.begin() as connection:
        retries = SqlRetries(connection)
        ids = connection.execute(select(tables.retry_request.c.RequestID).distinct()).scalars()
        requests = list(ids)
        files: defaultdict[tuple[str, int], list[RetryFile]] = defaultdict(list)
        for file in retries.all_files(*requests):
            files[file.request_id, file.retry_attempt].append(file)
        return [
            (attempt, files[attempt.request_id, attempt.retry_attempt])
            for attempt in retries.attempts(*requests)
        ]


def unsent(sql: SqlDatabase) -> int:
    with sql.engine.begin() as connection:
        statement = select(tables.outbox.c.OutboxID).where(tables.outbox.c.SentAt.is_(None))
        return len(connection.execute(statement).all())


def check_files(jobs: Iterable[Job]) -> None:
    """At most one active job of a file, and its attempts are numbered through."""
    by_file: defaultdict[UUID, list[Job]] = defaultdict(list)
    for job in jobs:
        by_file[job.file_id].append(job)
    for of_file in by_file.values():
        assert sum(job.active for job in of_file) <= 1, "two active jobs of one file"
        attempts = sorted(job.attempt for job in of_file)
        assert attempts == list(range(1, len(of_file) + 1)), attempts


def check_announcements(jobs: Iterable[Job], sent: Iterable[OutgoingMessage]) -> None:
    """Of each job: JobQueued first, perhaps JobStarted, then its one end; each under its id."""
    by_id = {str(job.job_id): job for job in jobs}
    heard: defaultdict[str, list[JobStatus]] = defaultdict(list)
    for message in sent:
        if message.topic != "job-status":
            continue
        status = JobStatus(message.subject.removeprefix("Job"))
        job = by_id[message.correlation_id]
        assert message.message_id == f"{job.job_id}:{status}"
        assert status not in ENDS or status is job.status, f"{status} of a job that {job.status}"
        if status not in heard[message.correlation_id]:
            heard[message.correlation_id].append(status)
    for statuses in heard.values():
        assert statuses[0] is JobStatus.QUEUED, statuses
        ranks = [RANKS[status] for status in statuses]
        assert ranks == sorted(set(ranks)), statuses


def check_retries(
    attempts: Sequence[tuple[RetryRequest, Sequence[RetryFile]]], jobs: Iterable[Job]
) -> None:
    """Pending counts the undecided files, of which each waits for an active job."""
    by_id = {job.job_id: job for job in jobs}
    for request, files in attempts:
        undecided = [file for file in files if file.decided_at is None]
        assert request.pending == len(undecided), (request, files)
        assert (request.closed_at is None) == bool(undecided), (request, files)
        assert all(file.outcome is FileOutcome.PENDING for file in undecided)
        assert all(file.job_id and by_id[file.job_id].active for file in undecided)
        succeeded = [file for file in files if file.outcome is FileOutcome.SUCCEEDED]
        for file in succeeded:
            assert file.job_id
            assert by_id[file.job_id].status is JobStatus.SUCCEEDED
    for request, _ in attempts:
        made = [job for job in jobs if job.request_id == request.request_id]
        by_file = defaultdict(list)
        for job in made:
            by_file[job.file_id].append(job)
        assert all(len(of_file) <= request.max_retries for of_file in by_file.values())
