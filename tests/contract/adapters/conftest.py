"""A broker for the tests of this folder, and topics that nobody else uses."""

import gc
import threading
import warnings
from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pytest

from tests.contract.adapters.broker import Broker, Inbox, running_broker
from tests.contract.waiting import wait_until

TOPICS = [f"topic-{number}" for number in range(24)]
_numbers = count()


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("broker"), TOPICS) as running:
        yield running


@pytest.fixture
def topic() -> str:
    """Another one for each test."""
    return TOPICS[next(_numbers)]


@pytest.fixture(scope="module")
def shared_topic() -> str:
    """One for the tests of a module that leave it empty."""
    return TOPICS[next(_numbers)]


@pytest.fixture(scope="package")
def inbox(broker: Broker) -> Iterator[Inbox]:
    with closing(Inbox(broker.connect())) as made:
        yield made


@pytest.fixture
def sockets_left_by_the_sdk() -> Iterator[None]:
    """Collects them here: the SDK forgets a connection whose handshake has failed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        wait_until(lambda: "service-bus-opening" not in {t.name for t in threading.enumerate()})
        gc.collect()
