"""A Service Bus message as the worker gets it."""

import json
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusReceivedMessage
from proton import Message, symbol, timestamp

from local.host.metadata import UnreadableBody, body_bytes, body_data, trigger_metadata
from local.host.protocol import TypedData

LOCK = UUID("43d9772e-5bc3-42bf-909b-5622ce86d73c")
ENQUEUED = 1796065267770  # 2026-11-30T19:01:07.77Z


def received(**parts: Any) -> ServiceBusReceivedMessage:
    """A message as the client library decodes it from the wire."""
    message = Message(inferred=True, **parts)
    message.instructions = {symbol("x-opt-lock-token"): LOCK}
    message.annotations = {
        symbol("x-opt-sequence-number"): 4,
        symbol("x-opt-enqueued-time"): timestamp(ENQUEUED),
    }
    return ServiceBusReceivedMessage.from_bytes(bytes(message.encode()))


def seen(message: ServiceBusReceivedMessage, binary: bool = False) -> dict[str, Any]:
    """Metadata with JSON decoded, as a function sees it."""
    metadata = trigger_metadata(message, body_data(body_bytes(message), binary))
    return {n: json.loads(d.json) if d.json is not None else d.string for n, d in metadata.items()}


def test_a_bare_message_has_what_the_broker_gave_it_and_nothing_else() -> None:
    assert seen(received(body=b"[1,2]", id="m-jsonlist")) == {
        "MessageId": "m-jsonlist",
        "SequenceNumber": 4,
        "DeliveryCount": 1,
        "LockToken": str(LOCK),
        "EnqueuedTime": "2026-11-30T19:01:07.77+00:00",
        "EnqueuedTimeUtc": "2026-11-30T19:01:07.77Z",
        "ExpiresAt": "9999-12-31T23:59:59.9999999+00:00",
        "ExpiresAtUtc": "9999-12-31T23:59:59.9999999Z",
        "ApplicationProperties": {},
        "UserProperties": {},
    }


def test_properties_that_are_set_are_there() -> None:
    message = received(
        body=b"plain text",
        id="m-str",
        content_type="text/plain",
        correlation_id="corr",
        subject="subj",
        address="to",
        reply_to="rt",
        reply_to_group_id="rts",
        ttl=3600.0,
        delivery_count=2,
    )
    metadata = seen(message)
    assert metadata["ContentType"] == "text/plain"
    assert metadata["CorrelationId"] == "corr"
    assert metadata["Subject"] == metadata["Label"] == "subj"
    assert metadata["To"] == "to"
    assert metadata["ReplyTo"] == "rt"
    assert metadata["ReplyToSessionId"] == "rts"
    assert metadata["ExpiresAtUtc"] == "2026-11-30T20:01:07.77Z"
    assert metadata["DeliveryCount"] == 3


def test_application_properties_keep_their_json_types() -> None:
    properties = {
        "s": "str",
        "i": 5,
        "neg": -7,
        "f": 1.5,
        "t": True,
        "u": UUID("3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
        "none": None,
        "empty": "",
    }
    metadata = seen(received(body=b"x", properties=properties))
    expected = {**properties, "u": str(properties["u"])}
    assert metadata["ApplicationProperties"] == expected
    assert metadata["UserProperties"] == expected


def test_members_of_a_json_object_in_a_text_body_are_there_as_texts() -> None:
    metadata = seen(received(body='{"a":1,"b":"é"}'.encode(), id="m-json"))
    assert metadata["a"] == "1"
    assert metadata["b"] == "é"
    assert metadata["MessageId"] == "m-json"


def test_a_member_does_not_replace_a_property() -> None:
    assert seen(received(body=b'{"MessageId":"other"}', id="m"))["MessageId"] == "m"


def test_a_binary_binding_gets_the_exact_bytes() -> None:
    message = received(body=b"\x00\xff\x01bytes")
    assert body_data(body_bytes(message), binary=True) == TypedData(bytes=b"\x00\xff\x01bytes")


def test_a_text_binding_damages_bytes_that_are_no_utf8() -> None:
    message = received(body=b"\x00\xff\x01bytes")
    assert body_data(body_bytes(message), binary=False) == TypedData(string="\0\ufffd\x01bytes")


@pytest.mark.parametrize("body", ["a value", {"a": 1}, 5])
def test_a_body_that_is_no_data_section_can_not_be_read(body: object) -> None:
    message = ServiceBusReceivedMessage.from_bytes(bytes(Message(body=body).encode()))
    with pytest.raises(UnreadableBody):
        body_bytes(message)
