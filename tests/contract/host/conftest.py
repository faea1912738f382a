"""Hosts shared by the tests of a module."""

from collections.abc import Iterator

import pytest

from tests.contract.host.hosts import APPS, EDGES_SETTINGS, RunningHost, running_host


@pytest.fixture(scope="session")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """The app of HTTP edges; one host for every test that only reads."""
    with running_host(APPS / "edges", tmp_path_factory.mktemp("edges"), EDGES_SETTINGS) as host:
        yield host
