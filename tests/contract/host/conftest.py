"""Hosts shared by the tests of a module."""

from collections.abc import Iterator

import pytest

from tests.contract.host.hosts import APPS, RunningHost, running_host


@pytest.fixture(scope="session")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """The app of HTTP edges; one host for every test that only reads."""
    data = tmp_path_factory.mktemp("edges")
    with running_host(APPS / "edges", data, {"AzureWebJobs.off.Disabled": "true"}) as host:
        yield host
