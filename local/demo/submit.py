"""`make submit FILE=…`: submit a file to the stack that runs, and show its job."""

import logging
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from azure.core.exceptions import AzureError

from local.demo.console import complain, say, size
from local.demo.document import Document, DocumentError, read_document
from local.demo.file_service import FileService
from local.demo.follow import JobStuckError, recorded_steps, show_job
from local.demo.laptop import settings_for
from local.settings import LocalSettings
from local.supervisor.environment import database_url
from local.supervisor.lock import find_running
from shared.adapters.database import SqlDatabase, create_engine


class NotRunningError(Exception):
    """There is nothing to submit to. The text says how to start it."""


def main() -> int:
    """0 when the job succeeded; 1 with the reason when it did not, or could not be submitted."""
    logging.getLogger("azure").setLevel(logging.CRITICAL)  # what fails is said in our words
    name = os.environ.get("FILE", "")
    data = settings_for("make submit").data
    try:
        if not name:
            raise DocumentError("which file? make submit FILE=path/to/file.pdf")
        document = read_document(Path(name))
        running = find_running(data)
        if running is None:
            raise NotRunningError(f"no stack runs on {data}: start one with `make run`")
        return 0 if submit(running.settings, document) else 1
    except (DocumentError, NotRunningError, JobStuckError, AzureError) as error:
        complain(f"make submit: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


def submit(settings: LocalSettings, document: Document) -> bool:
    """Submit to a running stack and show the job to its end; whether it succeeded."""
    database = SqlDatabase(create_engine(database_url(settings)))
    try:
        with FileService(settings, database) as files:
            since = datetime.now(UTC)
            stored = files.submit(document.content, document.name)
            say(f"Submitted {document.name}, {size(len(document.content))}")
            say(f"  file  {stored.file_id}")
            say(f"  job   {stored.job_id}")
            say()
            return show_job(recorded_steps(database, stored), since)
    finally:
        database.close()


if __name__ == "__main__":
    sys.exit(main())
