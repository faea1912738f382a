"""The whole stack, started once for all integration tests."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest

from local.demo.file_service import StoredFile
from local.demo.registrations import DEMO_CLIENT
from local.demo.surroundings import Surroundings, surround
from local.supervisor.ports import with_free_ports
from local.supervisor.stack import Stack
from shared.domain.events import FileEvent
from shared.domain.jobs import Job


@dataclass(frozen=True)
class WholeStack:
    """The parts, and the services around them."""

    stack: Stack
    services: Surroundings

    def submit(
        self, content: bytes, name: str = "note.txt", client: str = DEMO_CLIENT
    ) -> StoredFile:
        """Store a file and announce it."""
        return self.services.files.submit(content, name, client)

    def job(self, job_id: UUID) -> Job | None:
        """The job's row."""
        return self.services.database.run(lambda tx: tx.jobs.get(job_id))

    def jobs_of(self, file_id: UUID) -> list[Job]:
        """Every job of a file, oldest first."""
        return list(self.services.database.run(lambda tx: tx.jobs.lock_of_file(file_id)))

    def events_of(self, file_id: UUID) -> list[FileEvent]:
        """All that is written down about a file, in order of time."""
        return list(self.services.database.run(lambda tx: tx.events.of_file(file_id)))

    def wait_for_job(self, job_id: UUID, true: Callable[[Job], bool], seconds: float = 30.0) -> Job:
        """The job's row as soon as the condition holds; fails when it does not in time."""
        deadline = time.monotonic() + seconds
        while not ((job := self.job(job_id)) and true(job)):
            assert time.monotonic() < deadline, f"in {seconds:.0f} s the job became {job}"
            time.sleep(0.05)
        return job

    def wait_for_end(self, job_id: UUID, seconds: float = 30.0) -> Job:
        """The job's row once it has ended."""
        return self.wait_for_job(job_id, lambda job: not job.active, seconds)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeStack]:
    """One stack for the session: a test that stops a part starts it again."""
    settings = with_free_ports(tmp_path_factory.mktemp("stack"))
    with Stack(settings) as running, surround(settings) as services:
        yield WholeStack(running, services)
