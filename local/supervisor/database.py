"""The embedded database: created and brought up to date before the app uses it."""

from alembic.util import CommandError

from local.supervisor.data import DataFolderError
from migrations.local_tables import create_read_only_tables
from migrations.upgrade import upgrade
from shared.adapters.database import create_engine


def create_database(url: str) -> None:
    """Create what is missing; safe to repeat. Raises DataFolderError for a newer database."""
    try:
        upgrade(url)
    except CommandError as error:
        raise DataFolderError(
            f"the database does not fit this version ({error}); `make reset` clears it"
        ) from None
    engine = create_engine(url)
    create_read_only_tables(engine)
    engine.dispose()
