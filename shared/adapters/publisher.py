"""Sending messages to topics."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta
from functools import cache
from queue import Empty, LifoQueue
from typing import Any

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender
from azure.servicebus.exceptions import MessageSizeExceededError

from shared.adapters.service_bus import PART, PATIENCE, ServiceBusLink
from shared.contracts.outgoing import MessageTooLargeError, OutgoingMessage
from shared.domain.errors import PermanentError, TransientError
from shared.telemetry import log_event

logger = logging.getLogger(__name__)


SENDERS = 4
"""Of a topic: threads that publish at once need not wait for each other's answers."""


class ServiceBusPublisher:
    """Sends through a few senders for each topic, from any thread.

    `connect` is called on first use. Every attempt of a message has the same message id, so that
    one whose answer was lost is dropped by the topic's duplicate detection.
    """

    def __init__(
        self, connect: Callable[[], ServiceBusClient], patience: timedelta = PATIENCE
    ) -> None:
        self._client = cache(connect)
        self._patience = patience
        self._topics: dict[str, _Senders] = {}
        self._lock = threading.Lock()

    def publish(self, message: OutgoingMessage) -> None:
        """Send one message and wait until the broker has it.

        Raises TransientError after `patience`, when it may have been sent all the same, and
        PermanentError when it can never be sent: MessageTooLargeError when the broker says so.
        """
        begun = time.monotonic()
        try:
            self._send(message)
        except TransientError as error:
            facts = _facts(message, begun)
            log_event(logger, "Message not sent", logging.WARNING, reason=str(error), **facts)
            raise
        log_event(logger, "Message sent", **_facts(message, begun))

    def _send(self, message: OutgoingMessage) -> None:
        def send(sender: ServiceBusSender, seconds: float) -> None:
            try:
                sender.send_messages(_to_service_bus(message), timeout=seconds)
            except MessageSizeExceededError:
                raise MessageTooLargeError(
                    "message_too_large",
                    f"{message.subject} {message.message_id} is larger than the broker takes",
                ) from None

        purpose = f"sending {message.subject} to {message.topic}"
        with self._senders(message.topic).one(purpose) as link:
            link.run(purpose, send)

    def close(self) -> None:
        """Close all senders; publishing again opens new ones."""
        for senders in list(self._topics.values()):
            senders.close()

    def _senders(self, topic: str) -> "_Senders":
        with self._lock:
            if topic not in self._topics:
                self._topics[topic] = _Senders(
                    lambda: self._client().get_topic_sender(topic), self._patience
                )
            return self._topics[topic]


class _Senders:
    """The senders of a topic, opened when they are needed."""

    def __init__(self, make: Callable[[], ServiceBusSender], patience: timedelta) -> None:
        self._patience = patience
        self._links = [ServiceBusLink(make, patience) for _ in range(SENDERS)]
        # The one used last comes first: of those in little use the broker detaches the idle ones.
        self._free: LifoQueue[ServiceBusLink[ServiceBusSender]] = LifoQueue()
        for link in self._links:
            self._free.put(link)

    @contextmanager
    def one(self, purpose: str) -> Iterator[ServiceBusLink[ServiceBusSender]]:
        """A sender that no other thread uses. Raises TransientError when none is free in time."""
        try:
            link = self._free.get(timeout=self._patience.total_seconds())
        except Empty:
            raise TransientError(PART, f"{purpose}: all senders were busy all the time") from None
        try:
            yield link
        finally:
            self._free.put(link)

    def close(self) -> None:
        for link in self._links:
            link.close()


def _facts(message: OutgoingMessage, begun: float) -> dict[str, Any]:
    return {
        "topic": message.topic,
        "subject": message.subject,
        "messageId": message.message_id,
        "durationMs": round((time.monotonic() - begun) * 1000),
    }


def _to_service_bus(message: OutgoingMessage) -> ServiceBusMessage:
    """A fresh SDK message for each attempt: sending leaves traces in it."""
    not_before = message.not_before
    properties: dict[str | bytes, Any] = dict(message.properties.items())
    try:
        return ServiceBusMessage(
            message.body,
            message_id=message.message_id,
            subject=message.subject,
            correlation_id=message.correlation_id,
            content_type="application/json",
            application_properties=properties,
            scheduled_enqueue_time_utc=not_before.astimezone(UTC) if not_before else None,
        )
    except (TypeError, ValueError) as error:
        raise PermanentError("message_refused", f"{message.subject}: {error}") from None
