"""The whole stack, started once for all integration tests."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import pytest

from local.demo.surroundings import surround
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.stack import Stack
from tests.integration.whole_stack import WholeStack

DURABLE = "AzureFunctionsJobHost__extensions__durableTask"


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeStack]:
    """One stack for the session: a test that stops a part starts it again.

    What a dead host held comes back after seconds instead of minutes.
    """
    plan = partial(
        plan_embedded_azure,
        overrides={f"{DURABLE}__storageProvider__workItemQueueVisibilityTimeout": "00:00:05"},
        lock_duration=timedelta(seconds=5),
    )
    settings = with_free_ports(tmp_path_factory.mktemp("stack"))
    with Stack(settings, plan=plan) as running, surround(settings) as services:
        yield WholeStack(running, services)


@pytest.fixture(autouse=True)
def every_part_lives(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that fails amid an outage does not leave the outage to the next one."""
    yield
    if "stack" in request.fixturenames:
        for process in request.getfixturevalue("stack").stack.parts.values():
            if not process.alive:
                process.start()
