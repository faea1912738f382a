"""The whole stack, started once for all integration tests."""

from collections.abc import Iterator

import pytest

from local.demo.surroundings import surround
from local.supervisor.ports import with_free_ports
from local.supervisor.stack import Stack
from tests.integration.whole_stack import WholeStack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeStack]:
    """One stack for the session: a test that stops a part starts it again."""
    settings = with_free_ports(tmp_path_factory.mktemp("stack"))
    with Stack(settings) as running, surround(settings) as services:
        yield WholeStack(running, services)
