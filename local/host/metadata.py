"""A Service Bus message as the worker gets it: its body, and its properties as trigger metadata."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.amqp import AmqpMessageBodyType

from local.host.protocol import TypedData

NO_EXPIRY = "9999-12-31T23:59:59.9999999"


class UnreadableBody(Exception):
    """The body is an AMQP value or sequence: no function can be called with it."""


def body_bytes(message: ServiceBusReceivedMessage) -> bytes:
    """The data sections of a message; raises UnreadableBody for the other kinds of body."""
    if message.body_type != AmqpMessageBodyType.DATA:
        raise UnreadableBody(f"the body of message {message.message_id} is no data section")
    return b"".join(message.body)


def body_data(body: bytes, binary: bool) -> TypedData:
    """Exact bytes for `dataType: binary`; else text, in which bytes that are no UTF-8 are lost."""
    return TypedData(bytes=body) if binary else TypedData(string=body.decode(errors="replace"))


def trigger_metadata(message: ServiceBusReceivedMessage, data: TypedData) -> dict[str, TypedData]:
    """The properties of a message under the names that the trigger gives them; unset ones absent.

    The members of a JSON object in a text body are there too, as texts.
    """
    properties = json.dumps(_properties(message.application_properties))
    texts = {
        "MessageId": message.message_id,
        "LockToken": message.lock_token,
        "ContentType": message.content_type,
        "CorrelationId": message.correlation_id,
        "Subject": message.subject,
        "Label": message.subject,
        "ReplyTo": message.reply_to,
        "ReplyToSessionId": message.reply_to_session_id,
        "To": message.to,
        "PartitionKey": message.partition_key,
        "SessionId": message.session_id,
    }
    documents = {
        # The header counts earlier deliveries; the trigger counts this one too.
        "DeliveryCount": json.dumps((message.delivery_count or 0) + 1),
        "SequenceNumber": json.dumps(message.sequence_number),
        "ApplicationProperties": properties,
        "UserProperties": properties,
        **_times("EnqueuedTime", message.enqueued_time_utc),
        **_times("ExpiresAt", message.expires_at_utc),
    }
    return {
        **members(data.string),
        **{name: TypedData(string=str(v)) for name, v in texts.items() if v is not None},
        **{name: TypedData(json=v) for name, v in documents.items()},
    }


def members(text: str | None) -> dict[str, TypedData]:
    """The members of a text that is a JSON object, as texts; empty for every other text."""
    try:
        document = json.loads(text or "")
    except ValueError:
        return {}
    if not isinstance(document, dict):
        return {}
    return {
        name: TypedData(string=value if isinstance(value, str) else json.dumps(value))
        for name, value in document.items()
        if value is not None
    }


def _times(name: str, moment: datetime | None) -> dict[str, str]:
    text = NO_EXPIRY if moment is None else _iso(moment)
    return {name: f'"{text}+00:00"', f"{name}Utc": f'"{text}Z"'}


def _iso(moment: datetime) -> str:
    text = moment.replace(tzinfo=None).isoformat(timespec="microseconds")
    return text.rstrip("0").rstrip(".")


def _properties(received: Mapping[str | bytes, Any] | None) -> dict[str, Any]:
    return {_plain(name): _plain(value) for name, value in (received or {}).items()}


def _plain(value: Any) -> Any:
    """A property as JSON has it: texts arrive as bytes from the client library."""
    match value:
        case bytes():
            return value.decode(errors="replace")
        case datetime():
            return f"{_iso(value)}Z"
        case UUID() | timedelta():
            return str(value)
        case _:
            return value
