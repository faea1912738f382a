"""Brokers in process, and Microsoft's clients on them."""

import gc
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from local.servicebus.topology import Subscription, Topic, Topology
from tests.contract.servicebus.hasty import hasty_clients
from tests.contract.servicebus.process import Process
from tests.contract.servicebus.raw_client import RawClient, raw_client
from tests.contract.servicebus.running import RunningBus, running
from tests.contract.servicebus.sdk import AsyncSdk, Sdk, SyncSdk

type Serve = Callable[..., RunningBus]
type Connect = Callable[..., Sdk]
type Later = Callable[[ExitStack], None]


@pytest.fixture(scope="package", autouse=True)
def hasty() -> Iterator[None]:
    """Opens and closes links in milliseconds."""
    with hasty_clients():
        yield


@pytest.fixture(scope="session")
def later() -> Iterator[Later]:
    """Closes stacks beside the tests that follow: the clients sleep half a second in each close."""
    closing: list[Future[None]] = []
    with ThreadPoolExecutor(8) as pool:
        yield lambda stack: closing.append(pool.submit(stack.close))
    for each in closing:
        each.result()


@pytest.fixture
def stack(later: Later) -> Iterator[ExitStack]:
    """Brokers and clients of one test; the clients go first."""
    opened = ExitStack()
    yield opened
    later(opened)


@pytest.fixture
def serve(stack: ExitStack, tmp_path: Path) -> Serve:
    """Serves the given topics."""

    def start(*topics: Topic) -> RunningBus:
        return stack.enter_context(running(Topology(topics), tmp_path))

    return start


@pytest.fixture
def bus(serve: Serve) -> RunningBus:
    """Topic `jobs` with subscription `sub`: locks of a minute, three deliveries."""
    return serve(Topic("jobs", (Subscription("sub", max_delivery_count=3),)))


@pytest.fixture(params=[SyncSdk, AsyncSdk], ids=["sync", "async"])
def connect(request: pytest.FixtureRequest, stack: ExitStack) -> Connect:
    """Makes a client on a broker; each test runs with both kinds."""

    def make(bus: RunningBus, retries: int = 0) -> Sdk:
        client: Sdk = request.param(bus.connection_string, retries)
        stack.callback(client.close)
        return client

    return make


@pytest.fixture
def sdk(bus: RunningBus, connect: Connect) -> Sdk:
    """Each of the two clients on `bus`."""
    return connect(bus)


@pytest.fixture
def client(bus: RunningBus) -> Iterator[RawClient]:
    """A bare AMQP connection to `bus`."""
    with raw_client(bus.port) as client:
        yield client


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Process]:
    """A broker that the test starts, and may kill."""
    process = Process(tmp_path)
    yield process
    if process.process.stdout and not process.process.stdout.closed:
        process.close()


@pytest.fixture
def forgotten_sockets() -> Iterator[None]:
    """Collects them here: the client forgets to close the socket of a connection that was cut."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()
