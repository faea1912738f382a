"""The whole stack as operators use it: it takes restarts and retries, and shows their results."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import psutil  # type: ignore[import-untyped]  # it ships no types
import requests
from azure.servicebus import ServiceBusClient, ServiceBusReceiveMode, ServiceBusReceiver

from local.demo.operator import Operator
from local.demo.registrations import register_extractor
from local.demo.surroundings import Surroundings, surround
from local.settings import LocalSettings
from local.supervisor.environment import (
    TOPICS,
    extraction_url,
    host_url,
    service_bus_connection,
)
from local.supervisor.parts import topology_path
from local.supervisor.plan import plan_embedded_azure
from local.supervisor.ports import with_free_ports
from local.supervisor.processes import Part
from local.supervisor.stack import Stack

CLIENT, EXTRACTOR = "benchmark-client", 1000
EVENTS, RESULTS = TOPICS["TOPIC_EXTRACTION_RETRY"], TOPICS["TOPIC_EXTRACTION_RESULT"]
OBSERVER = "benchmark"
"""A subscription of our own on both topics: it gets what the service gets."""

RESULT_SECONDS = 300.0
QUIET_SECONDS = 1.0
POLL_SECONDS = 0.02


class Results:
    """The results of retries, each taken from the observing subscription once."""

    def __init__(self, receiver: ServiceBusReceiver) -> None:
        self._receiver = receiver

    def wait_for(self, count: int) -> list[str]:
        """The request ids of so many results. Raises RuntimeError when they don't come."""
        found: list[str] = []
        deadline = time.monotonic() + RESULT_SECONDS
        while len(found) < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"only {len(found)} of {count} results came")
            found += self._take(count - len(found), QUIET_SECONDS)
        return found

    def nothing_more(self) -> None:
        """Raises RuntimeError when another result comes."""
        if more := self._take(1, QUIET_SECONDS):
            raise RuntimeError(f"one result too many, of {more[0]}")

    def _take(self, most: int, seconds: float) -> list[str]:
        taken = self._receiver.receive_messages(most, max_wait_time=seconds)
        return [str(each.correlation_id) for each in taken]


class Caller:
    """One operator with one connection; the token is made beforehand."""

    def __init__(self, settings: LocalSettings) -> None:
        self._address = host_url(settings)
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"Bearer {Operator(settings).token()}"

    def post(self, path: str, body: Any) -> tuple[float, str]:
        """How many seconds it took, and the request id. Raises HTTPError for a refusal."""
        begun = time.perf_counter()
        response = self._session.post(self._address + path, json=body, timeout=60)
        seconds = time.perf_counter() - begun
        response.raise_for_status()
        return seconds, response.json()["requestId"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._session.close()


@dataclass(frozen=True)
class RetryStack:
    """What runs, with what operators name and the results that come."""

    settings: LocalSettings
    services: Surroundings
    bus: ServiceBusClient
    results: Results
    host: psutil.Process

    def host_seconds(self) -> float:
        """Processor time of the host, the app included, since its start."""
        times = self.host.cpu_times()
        return float(times.user + times.system)

    def caller(self) -> Caller:
        """A new operator."""
        return Caller(self.settings)

    def entities(self, count: int) -> Sequence[int]:
        """Failed entities whose files are gone: a restart of them is over without a job."""
        return [self.services.documents.add_entity(uuid4().hex) for _ in range(count)]

    def wait_until_handled(self) -> None:
        """Until the service has completed every event and every result."""
        for kind in ("EXTRACTION_RETRY", "EXTRACTION_RESULT"):
            topic, subscription = TOPICS[f"TOPIC_{kind}"], TOPICS[f"SUBSCRIPTION_{kind}"]
            with self.bus.get_subscription_receiver(topic, subscription) as receiver:
                while receiver.peek_messages(1, sequence_number=1):
                    time.sleep(POLL_SECONDS)

    def files(self, count: int) -> Sequence[str]:
        """Hashes of stored files whose extractor succeeds at once."""
        contents = [f"A note of 2024-01-31, {uuid4()}".encode() for _ in range(count)]
        store = self.services.files.store
        return [store(content, "note.txt", CLIENT).document_hash for content in contents]


@contextmanager
def running_retries(folder: Path) -> Iterator[RetryStack]:
    """Start everything on free ports, with its data in `folder`, and end it."""
    settings = with_free_ports(folder)
    with (
        Stack(settings, plan=_observed) as stack,
        surround(settings) as services,
        ServiceBusClient.from_connection_string(service_bus_connection(settings)) as bus,
        bus.get_subscription_receiver(
            RESULTS, OBSERVER, receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE
        ) as receiver,
    ):
        url = f"{extraction_url(settings)}?behaviour=instant"
        register_extractor(services.database, EXTRACTOR, CLIENT, url)
        host = psutil.Process(stack.parts["host"].pid)
        yield RetryStack(settings, services, bus, Results(receiver), host)


def _observed(settings: LocalSettings) -> Sequence[Sequence[Part]]:
    """The embedded Azure, with the observing subscriptions."""
    parts = plan_embedded_azure(settings)
    path = topology_path(settings.data)
    config = json.loads(path.read_text())
    for topic in config["UserConfig"]["Namespaces"][0]["Topics"]:
        if topic["Name"] in {EVENTS, RESULTS}:
            topic["Subscriptions"].append({**topic["Subscriptions"][0], "Name": OBSERVER})
    path.write_text(json.dumps(config))
    return parts
