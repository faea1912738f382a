"""Opening the embedded database."""

from pathlib import Path

import pytest
from sqlalchemy import inspect

from shared.adapters.database import SqlDatabase, create_engine


@pytest.mark.parametrize(
    ("pragma", "expected"),
    [("journal_mode", "wal"), ("synchronous", 1), ("foreign_keys", 1), ("busy_timeout", 5000)],
)
def test_every_connection_is_set_up(database: SqlDatabase, pragma: str, expected: object) -> None:
    for _ in ("the first", "its successor"):
        with database.engine.connect() as connection:
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == expected
            connection.invalidate()


def test_schemas_are_mapped_away(database: SqlDatabase) -> None:
    with database.engine.connect() as connection:
        names = set(inspect(connection).get_table_names())

    assert names == {
        "File",
        "ClientApplicationExtractor",
        "Documents",
        "ExtractedEntities",
        "Job",
        "JobCall",
        "FileEvent",
        "Outbox",
        "RetryRequest",
        "RetryFile",
        "ExtractorHealth",
        "Reconciliation",
        "alembic_version",
    }


def test_nothing_is_opened_before_the_first_use(tmp_path: Path) -> None:
    create_engine(f"sqlite:///{tmp_path / 'extractor.db'}")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must be a file"):
        create_engine(url)


def test_another_database_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="not postgresql"):
        create_engine("postgresql://server/database")
