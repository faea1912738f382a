from pathlib import Path

import pytest

from tests.database import empty_database
from tests.unit.services.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(empty_database(tmp_path))
