"""Rows of `[file].[File]`, which are only read."""

from uuid import UUID

from sqlalchemy import Connection, select

from shared.adapters.database.tables import file as table
from shared.domain.jobs import File


class SqlFiles:
    """Implements `ports.Files` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, file_id: UUID) -> File | None:
        row = self._connection.execute(select(table).where(table.c.FileID == file_id)).first()
        if row is None:
            return None
        return File(
            file_id=row.FileID,
            client_application_id=row.ClientApplicationID,
            blob_container=row.BlobContainer,
            blob_name=row.BlobName,
            document_hash=row.DocumentHash,
        )
