"""A database of the embedded Azure, with a file in it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from local.demo.file_service import FileService, StoredFile
from local.demo.registrations import DEMO_CLIENT, DEMO_EXTRACTOR, register_extractor
from local.settings import LocalSettings
from local.supervisor.database import create_database
from local.supervisor.environment import database_url
from local.supervisor.ports import with_free_ports
from shared.adapters.database import SqlDatabase, create_engine
from shared.adapters.database.transactions import SqlTransaction
from shared.domain.deadlines import TimeLimits
from shared.domain.jobs import Extractor, JobStatus
from shared.domain.retention import Retention
from shared.domain.retries import RetryPolicy
from shared.services.job_changes import Change, NewJob, add_job, change_job
from shared.services.job_rules import JobRules

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RULES = JobRules(
    limits=TimeLimits(*[timedelta(minutes=15)] * 4),
    retries=RetryPolicy(True, timedelta(seconds=30), timedelta(hours=1)),
    status_topic="job-status",
    retry_topic="extraction-retry",
    result_topic="extraction-result",
    jitter=lambda: 0.0,
    retention=Retention(timedelta(days=30)),
)


class Laptop:
    """A data folder with its database, and jobs as the service would have made them."""

    def __init__(self, settings: LocalSettings) -> None:
        self.settings = settings
        create_database(database_url(settings))
        self.database = SqlDatabase(create_engine(database_url(settings)))
        register_extractor(self.database, DEMO_EXTRACTOR, DEMO_CLIENT, "http://127.0.0.1/extract")

    def file(self, name: str = "invoice.pdf") -> StoredFile:
        """A file's row; no blob."""
        file_id = uuid4()
        stored = StoredFile(file_id, name, "ab" * 32, f"{file_id}/{name}")
        with FileService(self.settings, self.database) as files:
            files.add_row(stored)
        return stored

    def job(self, stored: StoredFile, at: datetime = NOW) -> None:
        """The job that the file's acceptance makes."""

        def add(tx: SqlTransaction) -> None:
            file = tx.files.get(stored.file_id)
            assert file is not None
            extractor = Extractor(DEMO_EXTRACTOR, "http://127.0.0.1/extract")
            add_job(
                tx, NewJob(stored.job_id, file, extractor, 1, at, f"00-{1:032}-{1:016}-01"), RULES
            )

        self.database.run(add)

    def change(self, stored: StoredFile, status: JobStatus, seconds: float, **more: str) -> bool:
        """Change the job's status so long after it was made; False when the row forbids it."""

        def change(tx: SqlTransaction) -> bool:
            job = tx.jobs.get(stored.job_id)
            assert job is not None
            at = NOW + timedelta(seconds=seconds)
            return change_job(tx, job, Change(status, at, "extractor", **more), RULES)

        return self.database.run(change)


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Laptop]:
    made = Laptop(with_free_ports(tmp_path))
    yield made
    made.database.close()
