"""A store in a file of the test's own."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from local.durable.database import Database


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Database]:
    """An empty store."""
    with closing(Database(tmp_path / "hub.db")) as database:
        yield database
