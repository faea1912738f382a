"""Looking at the job-status subscription without receiving from it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache

from azure.servicebus import ServiceBusClient, ServiceBusReceiver

from shared.adapters.service_bus import PATIENCE, ServiceBusLink


class ServiceBusWaitingReports:
    """Peeks at a subscription, from any thread. `connect` is called on first use."""

    def __init__(
        self,
        connect: Callable[[], ServiceBusClient],
        topic: str,
        subscription: str,
        patience: timedelta = PATIENCE,
    ) -> None:
        client = cache(connect)
        self._purpose = f"looking at {topic}/{subscription}"
        self._link = ServiceBusLink[ServiceBusReceiver](
            lambda: client().get_subscription_receiver(topic, subscription), patience
        )

    def oldest(self) -> datetime | None:
        """When the oldest message was enqueued (UTC), locked ones included. None: none waits.

        Raises TransientError.
        """
        return self._link.run(self._purpose, _oldest)

    def close(self) -> None:
        """Close the receiver; looking again opens another one."""
        self._link.close()


def _oldest(receiver: ServiceBusReceiver, seconds: float) -> datetime | None:
    # From the first number on, or a second look would begin behind what the first one saw.
    messages = receiver.peek_messages(1, sequence_number=1, timeout=seconds)
    enqueued = messages[0].enqueued_time_utc if messages else None
    return enqueued.astimezone(UTC) if enqueued else None
