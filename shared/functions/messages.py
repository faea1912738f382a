"""What the triggers read of a Service Bus message beside its body."""

from datetime import UTC, datetime

import azure.functions as func


def application_property(message: func.ServiceBusMessage, name: str) -> object:
    """An application property by its name in any case; None when it is absent."""
    properties = message.application_properties or {}
    return next((value for key, value in properties.items() if key.lower() == name.lower()), None)


def enqueued_at(message: func.ServiceBusMessage) -> datetime:
    """When the broker took the message, aware UTC; now, for a message that does not say."""
    moment: datetime | None = message.enqueued_time_utc
    if moment is None:
        return datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
