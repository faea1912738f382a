"""An empty database for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.database import SqlDatabase
from tests.database import empty_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqlDatabase]:
    database = empty_database(tmp_path)
    yield database
    database.close()
