"""The registration service's table, which the local app only reads: who extracts for whom."""

from sqlalchemy import insert, update

from shared.adapters.database import SqlDatabase
from shared.adapters.database.tables import client_application_extractor as table

DEMO_CLIENT = "demo-client"
DEMO_EXTRACTOR = 1
UNLUCKY_CLIENT = "unlucky-client"
UNLUCKY_EXTRACTOR = 2
"""Its extractor fails the first job of every file, on purpose."""


def register_extractor(
    database: SqlDatabase, extractor_id: int, client: str, url: str, *, active: bool = True
) -> None:
    """Insert the registration, or bring it up to date; safe to repeat."""
    values = {"ClientApplicationID": client, "ExtractionUrl": url, "IsActive": active}
    key = table.c.ClientApplicationExtractorID
    with database.engine.begin() as connection:
        known = connection.execute(
            update(table).where(key == extractor_id).values(values).returning(key)
        ).first()
        if not known:
            connection.execute(insert(table).values({key.name: extractor_id, **values}))
