"""Migrating from Python: for the local start and for tests."""

from pathlib import Path

from alembic import command
from alembic.config import Config


def upgrade(url: str) -> None:
    """Bring the schema [extractor] of the database at `url` to its newest revision."""
    config = Config(attributes={"url": url})
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    command.upgrade(config, "head")
