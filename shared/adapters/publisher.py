"""Sending messages to topics."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, timedelta
from functools import cache
from typing import Any

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender
from azure.servicebus.exceptions import MessageSizeExceededError

from shared.adapters.service_bus import PATIENCE, ServiceBusLink
from shared.contracts.outgoing import MessageTooLargeError, OutgoingMessage
from shared.domain.errors import PermanentError, TransientError
from shared.telemetry import log_event

logger = logging.getLogger(__name__)


class ServiceBusPublisher:
    """Sends through one sender for each topic, from any thread.

    `connect` is called on first use. Every attempt of a message has the same message id, so that
    one whose answer was lost is dropped by the topic's duplicate detection.
    """

    def __init__(
        self, connect: Callable[[], ServiceBusClient], patience: timedelta = PATIENCE
    ) -> None:
        self._client = cache(connect)
        self._patience = patience
        self._links: dict[str, ServiceBusLink[ServiceBusSender]] = {}
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

        self._link(message.topic).run(f"sending {message.subject} to {message.topic}", send)

    def close(self) -> None:
        """Close all senders; publishing again opens new ones."""
        for link in list(self._links.values()):
            link.close()

    def _link(self, topic: str) -> ServiceBusLink[ServiceBusSender]:
        with self._lock:
            if topic not in self._links:
                self._links[topic] = ServiceBusLink(
                    lambda: self._client().get_topic_sender(topic), self._patience
                )
            return self._links[topic]


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
