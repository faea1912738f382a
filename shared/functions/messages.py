"""A Service Bus message of the platform as the service reads it."""

from datetime import UTC, datetime

import azure.functions as func

from shared.contracts.incoming import Incoming


def incoming(message: func.ServiceBusMessage) -> Incoming:
    """The message; enqueued now, when it does not say when."""
    return Incoming(
        message.get_body(),
        dict(message.application_properties or {}),
        _aware(message.enqueued_time_utc or datetime.now(UTC)),
    )


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
