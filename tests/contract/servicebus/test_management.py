"""Requests on `$cbs` and `$management`: the codes and types that the recorded clients need."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from proton import (
    UNDESCRIBED,
    Array,
    Data,
    Message,
    int32,
    symbol,
    timestamp,
    uint,
    ulong,
)

from tests.contract.servicebus.raw_client import SUB, RawClient, message

LATER = timestamp(4_000_000_000_000)


def array(kind: int, *values: object) -> Array:
    return Array(UNDESCRIBED, kind, *values)  # type: ignore[arg-type]


def ask(client: RawClient, operation: str, entity: str = SUB, **body: Any) -> Message:
    return client.request(
        f"{entity}/$management",
        properties={"operation": f"com.microsoft:{operation}"},
        body={key.replace("_", "-"): value for key, value in body.items()},
    )


def defer(client: RawClient, body: object) -> int:
    """Leave a deferred message in the subscription; answers its sequence number."""
    client.send(client.sender("jobs"), message(body))
    receiver = client.receiver(SUB, credit=1)
    arrived = client.next()
    arrived.delivery.local.undeliverable = True
    client.settle(arrived, 0x27)
    receiver.close()
    assert arrived.message.annotations is not None
    return int(arrived.message.annotations[symbol("x-opt-sequence-number")])


def lock(client: RawClient, number: int) -> UUID:
    reply = ask(
        client,
        "receive-by-sequence-number",
        sequence_numbers=array(Data.LONG, number),
        receiver_settle_mode=uint(1),
    )
    assert isinstance(reply.body, dict)
    (received,) = reply.body["messages"]
    return UUID(str(received["lock-token"]))


def status(reply: Message) -> object:
    assert reply.properties is not None
    value = reply.properties["statusCode"]
    assert type(value) is int32, "the .NET client refuses a status of any other type"
    return value


def error(reply: Message) -> tuple[object, object]:
    assert reply.properties is not None
    condition = reply.properties["errorCondition"]
    assert type(condition) is symbol
    return status(reply), condition


@pytest.mark.parametrize("request_id", ["request1", uuid4(), ulong(7)])
@pytest.mark.parametrize("reply_to", ["282c74afdd2747449a673919fd296703", None])
def test_any_token_is_taken(client: RawClient, request_id: object, reply_to: str | None) -> None:
    client.receiver("$cbs", credit=1, target=reply_to)
    token = Message(
        id=request_id,
        reply_to=reply_to,
        properties={
            "operation": "put-token",
            "type": "servicebus.windows.net:sastoken",
            "name": "amqp://localhost/jobs",
            "expiration": LATER,
        },
        body="SharedAccessSignature sr=a&sig=b",
    )
    client.send(client.sender("$cbs"), token.encode(), settled=True)
    arrived = client.next()
    assert arrived.delivery.settled
    reply = arrived.message
    assert reply.correlation_id == request_id
    assert reply.properties == {"status-code": int32(202), "status-description": "Accepted"}
    assert reply.properties is not None
    assert type(reply.properties["status-code"]) is int32


def test_a_reply_goes_to_the_link_that_the_request_names(client: RawClient) -> None:
    node = f"{SUB}/$management"
    for name in ("first", "second"):
        client.receiver(node, credit=1, target=name)
    requests = client.sender(node)
    asked = Message(reply_to="first", properties={"operation": "x"}, id="a")
    client.send(requests, asked.encode())
    assert client.next().delivery.link.target.address == "first"
    unknown = Message(reply_to="third", properties={"operation": "x"}, id="b")
    delivery = client.send(requests, unknown.encode())
    assert delivery.remote.condition is not None
    assert "no link from" in str(delivery.remote.condition.description)


def test_replies_wait_for_credit(client: RawClient) -> None:
    node = f"{SUB}/$management"
    replies = client.receiver(node, target="here")
    requests = client.sender(node)
    client.send(requests, Message(reply_to="here", properties={"operation": "x"}).encode())
    client.idle(0.05)
    assert not client.arrived
    replies.flow(1)
    assert error(client.next().message)[0] == 501


def test_locks_are_renewed(client: RawClient) -> None:
    token = lock(client, defer(client, "a"))
    reply = ask(client, "renew-lock", lock_tokens=array(Data.UUID, token))
    assert status(reply) == 200
    assert isinstance(reply.body, dict)
    expirations = reply.body["expirations"]
    assert isinstance(expirations, Array)
    assert expirations.type == Data.TIMESTAMP
    assert len(expirations.elements) == 1


def test_a_lost_lock_is_410(client: RawClient) -> None:
    tokens = array(Data.UUID, uuid4())
    lost = (410, "com.microsoft:message-lock-lost")
    assert error(ask(client, "renew-lock", lock_tokens=tokens)) == lost
    settled = ask(client, "update-disposition", lock_tokens=tokens, disposition_status="completed")
    assert error(settled) == lost


def test_a_peek_answers_messages_or_204(client: RawClient) -> None:
    empty = ask(client, "peek-message", from_sequence_number=0, message_count=int32(5))
    assert (status(empty), empty.body) == (204, None)
    sender = client.sender("jobs")
    for n in range(3):
        client.send(sender, message(n))
    found = ask(client, "peek-message", from_sequence_number=2, message_count=int32(5))
    assert status(found) == 200
    assert isinstance(found.body, dict)
    assert [decoded(each).body for each in found.body["messages"]] == [1, 2]


def decoded(entry: dict[str, bytes]) -> Message:
    found = Message()
    found.decode(bytes(entry["message"]))
    return found


def test_a_peek_is_bounded_in_size(client: RawClient) -> None:
    sender = client.sender("jobs")
    for _ in range(8):
        client.send(sender, message(b"x" * 250_000))
    reply = ask(client, "peek-message", from_sequence_number=0, message_count=int32(1_000))
    assert isinstance(reply.body, dict)
    assert len(reply.body["messages"]) == 5


def test_scheduled_messages_are_seen_on_the_topic_and_taken_back(client: RawClient) -> None:
    scheduled = message("later", annotations={symbol("x-opt-scheduled-enqueue-time"): LATER})
    entry = {"message-id": "m", "message": scheduled}
    reply = ask(client, "schedule-message", "jobs", messages=[entry, entry])
    assert status(reply) == 200
    assert isinstance(reply.body, dict)
    numbers = reply.body["sequence-numbers"]
    assert isinstance(numbers, Array)
    assert numbers.type == Data.LONG
    assert len(numbers.elements) == 2
    seen = ask(client, "peek-message", "jobs", from_sequence_number=0, message_count=int32(5))
    assert isinstance(seen.body, dict)
    states = [
        dict(decoded(each).annotations or {}).get(symbol("x-opt-message-state"))
        for each in seen.body["messages"]
    ]
    assert states == [2, 2]
    cancel = {"sequence_numbers": array(Data.LONG, *numbers.elements)}
    assert status(ask(client, "cancel-scheduled-message", "jobs", **cancel)) == 200
    missing = error(ask(client, "cancel-scheduled-message", "jobs", **cancel))
    assert missing == (404, "com.microsoft:message-not-found")


def test_a_deferred_message_comes_with_its_lock_or_is_deleted(client: RawClient) -> None:
    number = defer(client, "a")
    assert lock(client, number).version == 4
    missing = ask(
        client,
        "receive-by-sequence-number",
        sequence_numbers=array(Data.LONG, number),
        receiver_settle_mode=uint(1),
    )
    assert error(missing) == (404, "com.microsoft:message-not-found")
    deleted = ask(
        client,
        "receive-by-sequence-number",
        sequence_numbers=array(Data.LONG, defer(client, "b")),
        receiver_settle_mode=uint(0),
    )
    assert isinstance(deleted.body, dict)
    (entry,) = deleted.body["messages"]
    assert set(entry) == {"message"}


@pytest.mark.parametrize(
    ("disposition", "extras", "left", "dead"),
    [
        ("completed", {}, [], []),
        ("abandoned", {"properties-to-modify": {"why": "busy"}}, [{"why": "busy"}], []),
        ("defered", {}, [None], []),
        (
            "suspended",
            {"deadletter-reason": "r", "deadletter-description": "d"},
            [],
            [{"DeadLetterReason": "r", "DeadLetterErrorDescription": "d"}],
        ),
    ],
)
def test_each_disposition_does_what_it_says(
    client: RawClient,
    disposition: str,
    extras: dict[str, Any],
    left: list[object],
    dead: list[object],
) -> None:
    token = lock(client, defer(client, "a"))
    tokens = array(Data.UUID, token)
    reply = ask(
        client,
        "update-disposition",
        lock_tokens=tokens,
        disposition_status=disposition,
        **extras,
    )
    assert (status(reply), reply.body) == (200, None)
    assert properties_of(client, SUB) == left
    assert properties_of(client, f"{SUB}/$DeadLetterQueue") == dead


def properties_of(client: RawClient, entity: str) -> list[object]:
    reply = ask(client, "peek-message", entity, from_sequence_number=0, message_count=int32(9))
    entries = reply.body["messages"] if isinstance(reply.body, dict) else []
    return [decoded(each).properties for each in entries]


def test_several_locks_are_settled_together_or_not_at_all(client: RawClient) -> None:
    token = lock(client, defer(client, "a"))
    both = array(Data.UUID, token, uuid4())
    reply = ask(client, "update-disposition", lock_tokens=both, disposition_status="completed")
    assert error(reply)[0] == 410
    assert properties_of(client, SUB) == [None]


@pytest.mark.parametrize(
    ("operation", "entity", "body", "code", "text"),
    [
        ("add-rule", SUB, {}, 501, "'com.microsoft:add-rule' is not offered"),
        ("renew-lock", SUB, {}, 400, "'lock-tokens' must be a list"),
        ("renew-lock", SUB, {"lock_tokens": ["a"]}, 400, "'lock-tokens' must be UUIDs"),
        ("renew-lock", "jobs", {"lock_tokens": []}, 400, "'jobs' is a topic"),
        ("peek-message", SUB, {}, 400, "'from-sequence-number' must be a number"),
        ("schedule-message", SUB, {"messages": []}, 400, "is not a topic"),
        ("schedule-message", "jobs", {"messages": [5]}, 400, "with the encoded 'message'"),
        ("schedule-message", "jobs", {"messages": [{"message": b"?"}]}, 400, "cannot be read"),
        (
            "schedule-message",
            "jobs",
            {"messages": [{"message": message(b"x" * 262_144)}]},
            403,
            "262144 are allowed",
        ),
        ("cancel-scheduled-message", "jobs", {"sequence_numbers": ["a"]}, 400, "must be numbers"),
    ],
)
def test_what_cannot_be_done_says_why(
    client: RawClient, operation: str, entity: str, body: dict[str, object], code: int, text: str
) -> None:
    reply = ask(client, operation, entity, **body)
    assert error(reply)[0] == code
    assert text in repr(reply.properties)


def test_an_unknown_disposition_is_refused(client: RawClient) -> None:
    token = lock(client, defer(client, "a"))
    reply = ask(
        client,
        "update-disposition",
        lock_tokens=array(Data.UUID, token),
        disposition_status="burnt",
    )
    assert error(reply) == (400, "com.microsoft:argument-error")


def test_a_request_that_is_no_message_is_rejected(client: RawClient) -> None:
    delivery = client.send(client.sender(f"{SUB}/$management"), b"\x00\x53")
    assert delivery.remote.condition is not None
    assert delivery.remote.condition.name == "amqp:decode-error"


def test_a_request_without_a_map_is_refused(client: RawClient) -> None:
    reply = client.request(
        f"{SUB}/$management", properties={"operation": "com.microsoft:renew-lock"}, body="text"
    )
    assert error(reply)[0] == 400
