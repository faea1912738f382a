"""The tables that belong to other services, made on a laptop and in tests only."""

from sqlalchemy import Engine

from shared.adapters.database.tables import EXTRACTOR, metadata


def create_read_only_tables(engine: Engine) -> None:
    """Create those of the file, the registration and the documents service that are missing."""
    others = [table for table in metadata.sorted_tables if table.schema != EXTRACTOR]
    with engine.begin() as connection:
        metadata.create_all(connection, tables=others)
