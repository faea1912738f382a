"""The whole stack for the load: jobs that wait for reports, and failed entities to restart."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import UUID

from azure.servicebus import ServiceBusClient, ServiceBusSender
from sqlalchemy import func, select

from benchmarks.backlog import Backlog, watched_backlog
from benchmarks.stack import CLIENT, EXTRACTOR, SLOTS, made_up_file
from benchmarks.status_messages import TOPIC
from local.demo.documents_service import DocumentsService
from local.demo.file_service import FileService, StoredFile
from local.demo.registrations import register_extractor
from local.settings import LocalSettings
from local.supervisor.environment import database_url, extraction_url, service_bus_connection
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.stack import Stack
from shared.adapters.database import SqlDatabase, create_engine
from shared.adapters.database.tables import job, job_call
from shared.domain.jobs import ACTIVE

SILENT_CLIENT, SILENT_EXTRACTOR = "silent-client", 1001
"""Its extractor takes jobs and says nothing of them: their reports come from the benchmark."""

READY_SECONDS = 600.0
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class LoadStack:
    """What runs, and how to look at it."""

    settings: LocalSettings
    database: SqlDatabase
    files: FileService
    statuses: ServiceBusSender
    backlog: Backlog

    def waiting_jobs(self, count: int) -> Sequence[UUID]:
        """So many jobs whose extractor has been called. Raises RuntimeError when it is not."""
        stored = [self._store(SILENT_CLIENT) for _ in range(count)]
        for file in stored:
            self.files.announce(file.file_id)
        wait_until(lambda: self._called() == count, READY_SECONDS, "not all extractors were called")
        wait_until(self.backlog.is_empty, READY_SECONDS, "messages still wait")
        return [file.job_id for file in stored]

    def failed_entities(self, count: int) -> Sequence[int]:
        """Entities of stored files, each of its own, whose extractor succeeds at once."""
        documents = DocumentsService(self.database)
        return [documents.add_entity(self._store(CLIENT).document_hash) for _ in range(count)]

    def wait_until_done(self, seconds: float) -> float:
        """Until no message waits and no job runs; how long that took. Raises RuntimeError."""
        return wait_until(
            lambda: self.backlog.is_empty() and not ACTIVE & self.jobs_by_status().keys(),
            seconds,
            "messages still wait or jobs still run",
        )

    def jobs_by_status(self) -> Mapping[str, int]:
        """How many jobs stand at each status."""
        statement = select(job.c.Status, func.count()).group_by(job.c.Status)
        with self.database.engine.connect() as connection:
            return {status: count for status, count in connection.execute(statement)}

    def _store(self, client: str) -> StoredFile:
        file = made_up_file()
        self.files.add_row(file, client)
        return file

    def _called(self) -> int:
        called = select(func.count()).where(job_call.c.CalledAt.is_not(None))
        with self.database.engine.connect() as connection:
            return connection.execute(called).scalar_one()


def wait_until(done: Callable[[], bool], seconds: float, complaint: str) -> float:
    """How long it took. Raises RuntimeError with the complaint when it takes longer."""
    begun = time.monotonic()
    while not done():
        if time.monotonic() - begun > seconds:
            raise RuntimeError(f"{complaint} after {seconds:.0f} s")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - begun


@contextmanager
def running_load(folder: Path) -> Iterator[LoadStack]:
    """Start everything on free ports, with its data in `folder`, and end it."""
    settings = with_free_ports(folder)
    bus = service_bus_connection(settings)
    with ExitStack() as held:
        held.enter_context(Stack(settings, plan=partial(plan_embedded_azure, overrides=SLOTS)))
        database = SqlDatabase(create_engine(database_url(settings)))
        held.callback(database.close)
        url = extraction_url(settings)
        register_extractor(database, EXTRACTOR, CLIENT, f"{url}?behaviour=instant")
        register_extractor(database, SILENT_EXTRACTOR, SILENT_CLIENT, f"{url}?behaviour=silent")
        files = held.enter_context(FileService(settings, database))
        client = held.enter_context(ServiceBusClient.from_connection_string(bus))
        statuses = held.enter_context(client.get_topic_sender(TOPIC))
        backlog = held.enter_context(watched_backlog(bus))
        yield LoadStack(settings, database, files, statuses, backlog)
