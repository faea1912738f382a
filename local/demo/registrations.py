"""The registration service's table, which the local app only reads: who extracts for whom."""

from sqlalchemy import insert, select, update

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


def registered_id(database: SqlDatabase, client: str) -> int:
    """The id of a client's extractor; the next free one when it has none yet."""
    key = table.c.ClientApplicationExtractorID
    with database.engine.begin() as connection:
        rows = connection.execute(select(key, table.c.ClientApplicationID)).all()
    taken = {number for number, _ in rows}
    known = (number for number, owner in rows if owner == client)
    return min(known, default=next(number for number in range(1, 10_000) if number not in taken))
