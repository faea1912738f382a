"""A migrated SQLite database, and rows in the tables that belong to other services."""

import weakref
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid4

from sqlalchemy import insert

from migrations.local_tables import create_read_only_tables
from migrations.upgrade import upgrade
from shared.adapters.database import SqlDatabase, create_engine, tables
from shared.domain.jobs import Extractor, File

CLIENT = "client-a"


def empty_database(tmp_path: Path) -> SqlDatabase:
    """A database of its own in `tmp_path`; its connections are closed when it is let go."""
    path = tmp_path / "extractor.db"
    path.write_bytes(_migrated_file())
    engine = create_engine(f"sqlite:///{path}")
    database = SqlDatabase(engine)
    weakref.finalize(database, engine.dispose)
    return database


@cache
def _migrated_file() -> bytes:
    """Migrating takes many times longer than copying what it makes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "extractor.db")
        upgrade(f"sqlite:///{path}")
        engine = create_engine(f"sqlite:///{path}")
        create_read_only_tables(engine)
        engine.dispose()
        return path.read_bytes()


def add_file(
    database: SqlDatabase,
    file_id: UUID | None = None,
    client_application_id: str = CLIENT,
    blob_container: str = "files",
    blob_name: str = "report.pdf",
    document_hash: str = "hash-1",
    created_at: datetime | None = None,
) -> File:
    """A row of `[file].[File]`, with an id of its own unless one is given."""
    file = File(file_id or uuid4(), client_application_id, blob_container, blob_name, document_hash)
    row = {
        "FileID": file.file_id,
        "ClientApplicationID": file.client_application_id,
        "BlobContainer": file.blob_container,
        "BlobName": file.blob_name,
        "DocumentHash": file.document_hash,
        "CreatedAt": created_at or datetime.now(UTC),
    }
    with database.engine.begin() as connection:
        connection.execute(insert(tables.file).values(row))
    return file


def add_extractor(
    database: SqlDatabase,
    extractor_id: int = 101,
    client_application_id: str = CLIENT,
    extraction_url: str = "https://extractor.example/extract",
    is_active: bool = True,
) -> Extractor:
    """A row of `[registration].[ClientApplicationExtractor]`."""
    row = {
        "ClientApplicationExtractorID": extractor_id,
        "ClientApplicationID": client_application_id,
        "ExtractionUrl": extraction_url,
        "IsActive": is_active,
    }
    with database.engine.begin() as connection:
        connection.execute(insert(tables.client_application_extractor).values(row))
    return Extractor(extractor_id, extraction_url)


def add_document(database: SqlDatabase, document_id: int, document_hash: str) -> None:
    """A row of `Documents`."""
    row = {"DocumentId": document_id, "DocumentHash": document_hash}
    with database.engine.begin() as connection:
        connection.execute(insert(tables.documents).values(row))


def add_entity(
    database: SqlDatabase, entity_id: int, document_id: int, status: str = "failed"
) -> None:
    """A row of `ExtractedEntities`; its document must be there."""
    row = {
        "ExtractedEntityId": entity_id,
        "DocumentId": document_id,
        "Status": status,
        "Stage": "extraction",
        "CreatedOn": datetime.now(UTC),
    }
    with database.engine.begin() as connection:
        connection.execute(insert(tables.extracted_entities).values(row))
