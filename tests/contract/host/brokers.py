"""The local Service Bus as a process of its own, and Microsoft's client of it."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.amqp import AmqpAnnotatedMessage

LOCK_SECONDS = 2


def topology() -> dict[str, Any]:
    """Topic `jobs` with short locks, topic `texts` with long ones; three deliveries each."""
    topics = [_topic("jobs", "work", f"PT{LOCK_SECONDS}S"), _topic("texts", "sub", "PT5M")]
    return {"UserConfig": {"Namespaces": [{"Name": "local", "Topics": topics}]}}


def _topic(name: str, subscription: str, lock: str) -> dict[str, Any]:
    properties = {"LockDuration": lock, "MaxDeliveryCount": 3}
    return {
        "Name": name,
        "Properties": {},
        "Subscriptions": [{"Name": subscription, "Properties": properties}],
    }


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class Broker:
    """The local Service Bus on a fixed port, so that it can come back, and a client of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.connection_string = (
            f"Endpoint=sb://127.0.0.1:{self._port};SharedAccessKeyName=local;"
            "SharedAccessKey=local;UseDevelopmentEmulator=true;"
        )

    def start(self) -> None:
        config = self._folder / "topology.json"
        config.write_text(json.dumps(topology()))
        command = [sys.executable, "-m", "local.servicebus", "--config", str(config)]
        self._process = subprocess.Popen(
            [*command, "--port", str(self._port), "--data", str(self._folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith("ready servicebus")
        # Closing a link takes a second, so each serves all tests of a broker's life.
        self._client = ServiceBusClient.from_connection_string(self.connection_string)
        self._links: dict[tuple[object, ...], Any] = {}

    def kill(self) -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda link: link.close(), self._links.values()))
        self._client.close()
        with self._process:
            self._process.kill()

    def send(self, topic: str, *messages: ServiceBusMessage | AmqpAnnotatedMessage) -> None:
        sender = self._link((topic,), lambda: self._client.get_topic_sender(topic))
        for message in messages:
            sender.send_messages(message)

    def left(self, topic: str, subscription: str) -> list[str]:
        """The ids of the messages in a subscription."""
        return self._peek(topic, subscription, None)

    def dead(self, topic: str, subscription: str) -> list[str]:
        """The ids of the messages in its dead-letter queue."""
        return self._peek(topic, subscription, ServiceBusSubQueue.DEAD_LETTER)

    def _peek(self, topic: str, subscription: str, queue: ServiceBusSubQueue | None) -> list[str]:
        receiver = self._link(
            (topic, subscription, queue),
            lambda: self._client.get_subscription_receiver(topic, subscription, sub_queue=queue),
        )
        messages = receiver.peek_messages(100, sequence_number=1)
        return [str(message.message_id) for message in messages]

    def _link(self, name: tuple[object, ...], make: Callable[[], Any]) -> Any:
        if name not in self._links:
            self._links[name] = make()
        return self._links[name]


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    folder.mkdir(exist_ok=True)
    broker = Broker(folder)
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()
