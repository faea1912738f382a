"""Stands for the file service: it stores a file, writes its row, and announces it."""

import contextlib
import hashlib
import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self
from uuid import UUID, uuid4

from azure.core.exceptions import ResourceExistsError
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.storage.blob import BlobServiceClient
from sqlalchemy import insert

from local.demo.registrations import DEMO_CLIENT
from local.settings import LocalSettings
from local.supervisor.environment import TOPICS, blob_connection, service_bus_connection
from shared.adapters.database import SqlDatabase
from shared.adapters.database.tables import file as table
from shared.contracts.wire import format_timestamp
from shared.domain.jobs import first_job_id

CONTAINER = "accepted-files"


@dataclass(frozen=True)
class StoredFile:
    """A file with its row. `job_id` is the job that its first acceptance makes."""

    file_id: UUID
    name: str
    document_hash: str
    blob_name: str

    @property
    def job_id(self) -> UUID:
        return first_job_id(self.file_id, self.document_hash)


class FileService:
    """Accepts files on the embedded Azure. Safe to use from several threads."""

    def __init__(self, settings: LocalSettings, database: SqlDatabase) -> None:
        self._database = database
        self._blobs = BlobServiceClient.from_connection_string(
            blob_connection(settings), retry_total=3
        )
        self._bus = ServiceBusClient.from_connection_string(service_bus_connection(settings))
        self._sender = self._bus.get_topic_sender(TOPICS["TOPIC_ACCEPTED_FILE"])
        self._one_at_a_time = threading.Lock()  # a sender of the SDK is not safe for threads

    def submit(self, content: bytes, name: str, client: str = DEMO_CLIENT) -> StoredFile:
        """Store a file and announce it: each time under its own FileID."""
        stored = self.store(content, name, client)
        self.announce(stored.file_id)
        return stored

    def store(self, content: bytes, name: str, client: str = DEMO_CLIENT) -> StoredFile:
        """Put the content into Blob Storage, as `FileID/name`, and write the file's row."""
        file_id = uuid4()
        stored = StoredFile(file_id, name, hashlib.sha256(content).hexdigest(), f"{file_id}/{name}")
        self._upload(stored.blob_name, content)
        self.add_row(stored, client)
        return stored

    def add_row(self, stored: StoredFile, client: str = DEMO_CLIENT) -> None:
        """Write the row of `[file].[File]`, whether or not the content is there."""
        row = {
            "FileID": stored.file_id,
            "ClientApplicationID": client,
            "BlobContainer": CONTAINER,
            "BlobName": stored.blob_name,
            "DocumentHash": stored.document_hash,
            "CreatedAt": datetime.now(UTC),
        }
        with self._database.engine.begin() as connection:
            connection.execute(insert(table).values(row))

    def announce(self, file_id: UUID) -> None:
        """Publish FileAccepted; more than once, it is a message of its own each time."""
        accepted = {"FileID": str(file_id), "Timestamp": format_timestamp(datetime.now(UTC))}
        self.publish(
            ServiceBusMessage(
                json.dumps(accepted),
                content_type="application/json",
                subject="FileAccepted",
                message_id=str(uuid4()),
                correlation_id=str(file_id),
            )
        )

    def publish(self, message: ServiceBusMessage) -> None:
        """Send any message to the accepted-file topic; a connection that broke is made again."""
        with self._one_at_a_time:
            self._sender.send_messages(message)

    def close(self) -> None:
        """Let go of the connections."""
        self._bus.close()
        self._blobs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _upload(self, blob_name: str, content: bytes) -> None:
        container = self._blobs.get_container_client(CONTAINER)
        with contextlib.suppress(ResourceExistsError):
            container.create_container()
        container.upload_blob(blob_name, content)
