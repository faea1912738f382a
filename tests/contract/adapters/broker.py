"""The local Service Bus as a process of its own, with as many topics as tests want."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver

from shared.adapters.service_bus import client_from_connection_string
from tests.contract.parts import Part, running_part

SUBSCRIPTION = "extractor-subscription"
KEY = "c2VjcmV0"


@dataclass(frozen=True)
class Broker:
    """A running broker."""

    part: Part

    @property
    def port(self) -> int:
        return int(self.part.url.rpartition(":")[2])

    def connect(self) -> ServiceBusClient:
        """A client as the service makes it."""
        return client_from_connection_string(connection_string(self.port))


class Inbox:
    """Takes messages off subscriptions; its receivers stay open, for closing one takes a second."""

    def __init__(self, client: ServiceBusClient) -> None:
        self._client = client
        self._receivers: dict[str, ServiceBusReceiver] = {}

    def take(self, topic: str, count: int) -> list[ServiceBusReceivedMessage]:
        """Take `count` messages off a topic, and what else has arrived by then.

        They are in the order in which the broker accepted them. They need not arrive in it: a
        thread of the SDK releases, every five seconds, what came while nobody was receiving.
        """
        receiver = self._receivers.setdefault(
            topic, self._client.get_subscription_receiver(topic, SUBSCRIPTION)
        )
        taken: list[ServiceBusReceivedMessage] = []
        deadline = time.monotonic() + 20
        while batch := receiver.receive_messages(
            1000, max_wait_time=5 if len(taken) < count else 0.3
        ):
            taken += batch
            for message in batch:
                receiver.complete_message(message)
            assert time.monotonic() < deadline
        return sorted(taken, key=lambda message: message.sequence_number or 0)

    def close(self) -> None:
        with ThreadPoolExecutor(len(self._receivers) or 1) as threads:
            list(threads.map(ServiceBusReceiver.close, self._receivers.values()))


def connection_string(port: int) -> str:
    """The emulator's form: plain AMQP on a port of choice."""
    return (
        f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=any;SharedAccessKey={KEY};"
        "UseDevelopmentEmulator=true;"
    )


@contextmanager
def running_broker(data: Path, topics: list[str], port: int = 0) -> Iterator[Broker]:
    """Run a broker with these topics, one subscription each, until the block ends."""
    config = data / "topology.json"
    config.write_text(json.dumps(_config(topics)))
    arguments = ("--config", config, "--port", port, "--data", data)
    with running_part("local.servicebus", *arguments) as part:
        yield Broker(part)


def _config(topics: list[str]) -> dict[str, object]:
    namespace = {"Name": "sbemulatorns", "Queues": [], "Topics": [_topic(name) for name in topics]}
    return {"UserConfig": {"Namespaces": [namespace], "Logging": {"Type": "Console"}}}


def _topic(name: str) -> dict[str, object]:
    return {
        "Name": name,
        "Properties": {
            "RequiresDuplicateDetection": True,
            "DuplicateDetectionHistoryTimeWindow": "PT1M",
        },
        "Subscriptions": [{"Name": SUBSCRIPTION, "Properties": {}, "Rules": []}],
    }
