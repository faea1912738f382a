"""The file that the probe sends through: what it seeds for it, and how that is removed again."""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from azure.core.exceptions import ResourceNotFoundError
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.storage.blob import ContainerClient
from sqlalchemy import Connection, Engine, Table, delete, insert, select

from shared.adapters.database.tables import (
    client_application_extractor,
    extractor_health,
    file,
    file_event,
    job,
    job_call,
    outbox,
    retry_file,
    retry_request,
)
from shared.contracts.wire import format_timestamp
from shared.domain.jobs import first_job_id

CLIENTS = "deployment-probe-"
"""How the clients begin that the probe registers."""
FOLDER = "deployment-probe"
FORGOTTEN_AFTER = timedelta(hours=1)
"""A probe that was killed has left its rows behind by then, and none runs that long."""
EXTRACTOR_IDS = range(2_000_000_000, 2_147_483_647)
TEXT = b"A deployment is being probed. This file holds nothing, and is deleted within minutes.\n"


@dataclass(frozen=True)
class DemoFile:
    """A file of one client. `job_id` is the job that its acceptance makes."""

    file_id: UUID
    client: str

    @property
    def content(self) -> bytes:
        return TEXT + str(self.file_id).encode()

    @property
    def document_hash(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def blob_name(self) -> str:
        return f"{FOLDER}/{self.file_id}.txt"

    @property
    def job_id(self) -> UUID:
        return first_job_id(self.file_id, self.document_hash)


def new_file(client: str | None) -> DemoFile:
    """A file that nobody has seen, of this client or of one of its own."""
    file_id = uuid4()
    return DemoFile(file_id, client or f"{CLIENTS}{file_id.hex[:12]}")


def upload(container: ContainerClient, demo: DemoFile) -> None:
    """Put its content into the container of the accepted files."""
    container.upload_blob(demo.blob_name, demo.content)


def register(engine: Engine, demo: DemoFile, extractor_url: str) -> None:
    """Register an extractor for its client, as the registration service does."""
    row = {
        "ClientApplicationExtractorID": random.choice(EXTRACTOR_IDS),
        "ClientApplicationID": demo.client,
        "ExtractionUrl": extractor_url,
        "IsActive": True,
    }
    with engine.begin() as connection:
        connection.execute(insert(client_application_extractor).values(row))


def add_row(engine: Engine, demo: DemoFile, container: str) -> None:
    """Write its row, as the file service does."""
    row = {
        "FileID": demo.file_id,
        "ClientApplicationID": demo.client,
        "BlobContainer": container,
        "BlobName": demo.blob_name,
        "DocumentHash": demo.document_hash,
        "CreatedAt": datetime.now(UTC),
    }
    with engine.begin() as connection:
        connection.execute(insert(file).values(row))


def announce(bus: ServiceBusClient, topic: str, demo: DemoFile) -> None:
    """Publish FileAccepted."""
    body = {"FileID": str(demo.file_id), "Timestamp": format_timestamp(datetime.now(UTC))}
    message = ServiceBusMessage(
        json.dumps(body),
        content_type="application/json",
        subject="FileAccepted",
        message_id=str(demo.file_id),
        correlation_id=str(demo.file_id),
    )
    with bus.get_topic_sender(topic) as sender:
        sender.send_messages(message)


def remove(engine: Engine, container: ContainerClient, demo: DemoFile) -> None:
    """Delete the blob and every row that the file has led to. Safe to repeat."""
    _remove_blob(container, demo.blob_name)
    with engine.begin() as connection:
        _remove_rows(connection, [demo.file_id], [demo.document_hash])
        if demo.client.startswith(CLIENTS):
            _remove_registrations(connection, [demo.client])


def remove_forgotten(engine: Engine, container: ContainerClient) -> int:
    """Delete what killed probes have left behind; how many files that was."""
    before = datetime.now(UTC) - FORGOTTEN_AFTER
    ours = file.c.ClientApplicationID.startswith(CLIENTS)
    with engine.begin() as connection:
        rows = connection.execute(select(file).where(ours, file.c.CreatedAt < before)).all()
        _remove_rows(connection, [row.FileID for row in rows], [row.DocumentHash for row in rows])
        _remove_registrations(connection, [row.ClientApplicationID for row in rows])
    for row in rows:
        _remove_blob(container, row.BlobName)
    return len(rows)


def _remove_rows(connection: Connection, ids: Sequence[UUID], hashes: Sequence[str]) -> None:
    """Rows that others point to go last."""
    jobs = connection.scalars(select(job.c.JobID).where(job.c.FileID.in_(ids))).all()
    references = [*map(str, ids), *hashes]
    asked = retry_file.c.FileRef.in_(references)
    requests = connection.scalars(select(retry_file.c.RequestID).where(asked)).all()
    for table, column, values in (
        (outbox, "JobID", jobs),
        (job_call, "JobID", jobs),
        (file_event, "FileID", ids),
        (retry_file, "RequestID", requests),
        (retry_request, "RequestID", requests),
        (job, "FileID", ids),
        (file, "FileID", ids),
    ):
        _delete(connection, table, column, values)


def _remove_registrations(connection: Connection, clients: Sequence[str]) -> None:
    table = client_application_extractor
    of_clients = table.c.ClientApplicationID.in_(clients)
    key = "ClientApplicationExtractorID"
    ids = connection.scalars(select(table.c[key]).where(of_clients)).all()
    _delete(connection, extractor_health, key, ids)
    _delete(connection, table, key, ids)


def _delete(connection: Connection, table: Table, column: str, values: Sequence[object]) -> None:
    if values:
        connection.execute(delete(table).where(table.c[column].in_(values)))


def _remove_blob(container: ContainerClient, name: str) -> None:
    try:
        container.delete_blob(name)
    except ResourceNotFoundError:
        return
