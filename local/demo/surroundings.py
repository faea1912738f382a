"""The services around ours, all together, on a stack that runs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from local.demo.documents_service import DocumentsService
from local.demo.file_service import FileService
from local.demo.registrations import (
    DEMO_CLIENT,
    DEMO_EXTRACTOR,
    UNLUCKY_CLIENT,
    UNLUCKY_EXTRACTOR,
    register_extractor,
)
from local.demo.status_service import Announcement, StatusService
from local.settings import LocalSettings
from local.supervisor.environment import database_url, extraction_url
from shared.adapters.database import SqlDatabase, create_engine


@dataclass(frozen=True)
class Surroundings:
    """Who hands files in, who keeps what is extracted, who hears of jobs, and the database."""

    database: SqlDatabase
    files: FileService
    documents: DocumentsService
    statuses: StatusService


@contextmanager
def surround(
    settings: LocalSettings, listener: Callable[[Announcement], None] = lambda _: None
) -> Iterator[Surroundings]:
    """Register the demo's clients with the sample extractor, and connect the services.

    `listener` is called with every announcement of a job's status.
    """
    with ExitStack() as held:
        database = SqlDatabase(create_engine(database_url(settings)))
        held.callback(database.close)
        url = extraction_url(settings)
        register_extractor(database, DEMO_EXTRACTOR, DEMO_CLIENT, url)
        fails_once = f"{url}?behaviour=fail-reports=1"
        register_extractor(database, UNLUCKY_EXTRACTOR, UNLUCKY_CLIENT, fails_once)
        files = held.enter_context(FileService(settings, database))
        statuses = held.enter_context(StatusService(settings, listener))
        yield Surroundings(database, files, DocumentsService(database), statuses)
