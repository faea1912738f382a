"""The whole stack, started once for all integration tests."""

import gc
import json
import warnings
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from local.demo.surroundings import surround
from local.settings import LocalSettings
from local.supervisor.environment import TOPICS
from local.supervisor.parts import topology_path
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import Part
from local.supervisor.stack import Stack
from tests.contract.web_server import Reply, WebServer, web_server
from tests.integration.secrets import leaks, plant_in_settings, secrets_of
from tests.integration.whole_stack import OBSERVER, WholeStack

DURABLE = "AzureFunctionsJobHost__extensions__durableTask"
OVERRIDES = {
    f"{DURABLE}__storageProvider__workItemQueueVisibilityTimeout": "00:00:05",
    "RETRY_BACKOFF_SECONDS": "1",
}


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeStack]:
    """One stack for the session: a test that stops a part starts it again.

    What a dead host held comes back after seconds instead of minutes, and so do retries. In the
    end its logs are searched for every secret that was in it.
    """
    settings = with_free_ports(tmp_path_factory.mktemp("stack"))
    with Stack(settings, plan=plan) as running, surround(settings) as services:
        stack = WholeStack(running, services, secrets_of(running))
        yield stack
    collect_sockets()
    assert leaks(running.logs, stack.secrets) == []


def plan(settings: LocalSettings) -> Sequence[Sequence[Part]]:
    """The embedded Azure, with a subscription of the tests' own on the results of retries."""
    overrides = OVERRIDES | plant_in_settings(settings)
    parts = plan_embedded_azure(settings, overrides, lock_duration=timedelta(seconds=5))
    path = topology_path(settings.data)
    config = json.loads(path.read_text())
    for topic in config["UserConfig"]["Namespaces"][0]["Topics"]:
        if topic["Name"] == TOPICS["TOPIC_EXTRACTION_RESULT"]:
            topic["Subscriptions"].append({**topic["Subscriptions"][0], "Name": OBSERVER})
    path.write_text(json.dumps(config))
    return parts


@pytest.fixture
def extractor() -> Iterator[WebServer]:
    """An extractor of the test's own, which takes every job and reports nothing."""
    with web_server(lambda _: Reply(202)) as server:
        yield server


@pytest.fixture(autouse=True)
def every_part_lives(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that fails amid an outage does not leave the outage to the next one."""
    yield
    if "stack" in request.fixturenames:
        for process in request.getfixturevalue("stack").stack.parts.values():
            if not process.alive:
                process.start()
    collect_sockets()


def collect_sockets() -> None:
    """The SDK forgets sockets of connections that broke: they must not trouble a later test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
