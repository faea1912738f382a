"""Sending as other services do: until the broker has it."""

import threading
import time
from types import TracebackType
from typing import Self

from azure.core.exceptions import AzureError
from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender

PAUSE_SECONDS = 0.2


class Topics:
    """Senders of a namespace, opened when needed and again after a failure."""

    def __init__(self, connection_string: str) -> None:
        self._connection_string = connection_string
        self._client: ServiceBusClient | None = None
        self._senders: dict[str, ServiceBusSender] = {}
        self._one_at_a_time = threading.Lock()

    def send(self, topic: str, body: bytes | str, message_id: str, subject: str | None) -> None:
        """Returns when the message was accepted, however often it had to be sent."""
        while True:
            message = ServiceBusMessage(body, message_id=message_id, subject=subject)
            try:
                with self._one_at_a_time:
                    return self._sender(topic).send_messages(message, timeout=10)
            except (AzureError, OSError, ValueError):
                self.close()
                time.sleep(PAUSE_SECONDS)

    def close(self) -> None:
        """Let go of the connections; the next message makes others."""
        client, self._client, self._senders = self._client, None, {}
        if client:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _sender(self, topic: str) -> ServiceBusSender:
        if self._client is None:
            self._client = ServiceBusClient.from_connection_string(
                self._connection_string, retry_total=0
            )
        if topic not in self._senders:
            self._senders[topic] = self._client.get_topic_sender(topic)
        return self._senders[topic]
