"""Rows of `[file].[File]`, which are only read."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row, case, select

from shared.adapters.database.tables import file as table
from shared.domain.jobs import File


class SqlFiles:
    """Implements `ports.Files` within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, file_id: UUID) -> File | None:
        row = self._connection.execute(select(table).where(table.c.FileID == file_id)).first()
        return _file(row) if row else None

    def resolve(self, file_ref: str, client_application_id: str) -> File | None:
        """The file that a document hash names, else a FileID in any spelling of a GUID.

        A hash shared by several files means the newest of this client, else the newest of all.
        """
        of_another_client = case((table.c.ClientApplicationID == client_application_id, 0), else_=1)
        statement = (
            select(table)
            .where(table.c.DocumentHash == file_ref)
            .order_by(of_another_client, table.c.CreatedAt.desc(), table.c.FileID)
            .limit(1)
        )
        row = self._connection.execute(statement).first()
        if row:
            return _file(row)
        file_id = _guid(file_ref)
        return self.get(file_id) if file_id else None


def _guid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _file(row: Row[Any]) -> File:
    return File(
        file_id=row.FileID,
        client_application_id=row.ClientApplicationID,
        blob_container=row.BlobContainer,
        blob_name=row.BlobName,
        document_hash=row.DocumentHash,
    )
