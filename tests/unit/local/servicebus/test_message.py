"""Messages pass through as bytes: only what is in front of the properties is ours."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proton import Array, Data, Message, int32, symbol, timestamp, uint, ulong

from local.servicebus import raw
from local.servicebus.message import Message as Stored
from local.servicebus.message import Stamp, split_batch
from local.servicebus.raw import DecodeError

STAMP = Stamp(
    sequence_number=7,
    enqueued=1_700_000_000_000,
    delivery_count=0,
    state=0,
    time_to_live=None,
    locked_until=1_700_000_060_000,
)

bodies = st.one_of(
    st.binary(max_size=500),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    st.integers(-(2**63), 2**63 - 1),
    st.none(),
    st.lists(st.booleans(), max_size=5),
)
properties = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.one_of(
        st.integers(-(2**31), 2**31 - 1).map(int32),
        st.booleans(),
        st.uuids(),
        st.floats(allow_nan=False),
        st.binary(max_size=20),
    ),
    max_size=5,
)


def encoded(**fields: Any) -> bytes:
    return bytes(Message(**fields).encode())


def section(code: int, value: object) -> bytes:
    return bytes([0x00, 0x53, code]) + raw.encode(value)


@given(bodies, properties)
def test_everything_from_the_properties_on_leaves_as_it_came(
    body: object, application_properties: dict[str, object]
) -> None:
    message = encoded(
        body=body, properties=application_properties, id="m", subject="s", priority=7, ttl=5
    )
    rest = message[message.index(b"\x00\x53\x73") :]
    assert Stored(message).stamped(STAMP).endswith(rest)


def test_a_message_leaves_with_header_and_annotations_of_the_broker() -> None:
    sent = encoded(body=b"x", id="m", durable=True, priority=9)
    received = Message()
    received.decode(Stored(sent).stamped(STAMP))
    assert received.durable
    assert received.priority == 9
    assert received.delivery_count == 0
    assert received.annotations == {
        symbol("x-opt-sequence-number"): 7,
        symbol("x-opt-enqueued-time"): timestamp(1_700_000_000_000),
        symbol("x-opt-message-state"): int32(0),
        symbol("x-opt-locked-until"): timestamp(1_700_000_060_000),
    }


def test_the_delivery_count_is_written_out_even_when_it_is_zero() -> None:
    stamped = Stored(encoded(body=b"x")).stamped(STAMP)
    code, at = raw.described(stamped, 0)
    assert code == raw.HEADER
    assert raw.list_items(stamped, at)[4] == raw.unsigned(0)


def test_the_time_to_live_that_holds_replaces_the_senders() -> None:
    stamp = Stamp(1, 0, 0, 0, time_to_live=60_000, locked_until=None)
    received = Message()
    received.decode(Stored(encoded(body=b"x", ttl=3600)).stamped(stamp))
    assert received.ttl == 60


def test_a_time_to_live_beyond_the_headers_range_leaves_the_senders() -> None:
    stamp = Stamp(1, 0, 0, 0, time_to_live=2**32, locked_until=None)
    received = Message()
    received.decode(Stored(encoded(body=b"x", ttl=3600)).stamped(stamp))
    assert received.ttl == 3600


def test_the_senders_annotations_stay_and_the_brokers_are_not_believed() -> None:
    sent = encoded(
        body=b"x",
        annotations={
            symbol("x-opt-partition-key"): "k",
            symbol("x-opt-sequence-number"): 99,
            symbol("x-opt-locked-until"): timestamp(1),
        },
        instructions={symbol("x-opt-lock-token"): UUID(int=5)},
    )
    received = Message()
    received.decode(Stored(sent).stamped(STAMP))
    assert received.annotations is not None
    assert received.annotations[symbol("x-opt-partition-key")] == "k"
    assert received.annotations[symbol("x-opt-sequence-number")] == 7
    assert received.annotations[symbol("x-opt-locked-until")] == timestamp(1_700_000_060_000)
    assert not received.instructions


@pytest.mark.parametrize(
    ("message_id", "text"),
    [("m-1", "m-1"), (UUID(int=1), str(UUID(int=1))), (ulong(7), "7"), (None, None)],
)
def test_message_ids_of_any_type_are_compared_as_text(message_id: object, text: object) -> None:
    assert Stored(encoded(body=b"x", id=message_id)).message_id == text


def test_system_and_application_properties_are_found() -> None:
    message = Stored(
        encoded(
            body=b"x",
            id="i",
            address="to",
            subject="s",
            reply_to="r",
            correlation_id="c",
            content_type=symbol("application/json"),
            group_id="g",
            reply_to_group_id="rg",
            properties={"Color": "red", "list": [1], "none": None},
            annotations={symbol("x-opt-partition-key"): "k"},
        )
    )
    expected = {
        "messageid": "i",
        "to": "to",
        "label": "s",
        "subject": "s",
        "replyto": "r",
        "correlationid": "c",
        "contenttype": "application/json",
        "sessionid": "g",
        "replytosessionid": "rg",
        "partitionkey": "k",
    }
    assert {name: message.system(name) for name in expected} == expected
    assert message.user("COLOR") == "red"
    assert message.user("list") is None
    assert message.has_user("none")
    assert not message.has_user("other")


def test_a_message_without_properties_has_none() -> None:
    message = Stored(b"\x00\x53\x75\xa0\x01x")
    assert message.message_id is None
    assert message.system("label") is None
    assert message.system("partitionkey") is None
    assert not message.has_user("a")
    assert message.time_to_live is None
    assert message.scheduled_for is None


def test_the_scheduled_time_is_read_to_the_millisecond() -> None:
    at = timestamp(1_700_000_000_123)
    message = encoded(body=b"x", annotations={symbol("x-opt-scheduled-enqueue-time"): at})
    assert Stored(message).scheduled_for == 1_700_000_000_123


def test_properties_are_added_and_replaced_beside_the_untouched_rest() -> None:
    sent = encoded(body=b"x", id="m", properties={"a": int32(1), "b": "two"})
    changed = Stored(sent).with_application_properties(
        {"b": raw.encode("new"), "c": raw.encode(True)}
    )
    received = Message()
    received.decode(changed)
    assert received.properties == {"a": int32(1), "b": "new", "c": True}
    assert (received.id, received.body) == ("m", b"x")


@pytest.mark.parametrize("sent", [encoded(body=b"x", id="m"), encoded(body=b"x"), b""])
def test_properties_are_added_to_a_message_that_had_none(sent: bytes) -> None:
    changed = Stored(sent).with_application_properties({"a": raw.encode("b")})
    assert Stored(changed).user("a") == "b"
    assert changed.endswith(sent[-4:])


@pytest.mark.parametrize(
    "sent",
    [
        section(raw.HEADER, {"a": 1}),
        section(raw.MESSAGE_ANNOTATIONS, [1]),
        section(raw.PROPERTIES, "text"),
        section(raw.APPLICATION_PROPERTIES, Array(None, Data.LONG, 1)),
        b"\x00\x53\x74\xc1\x02\x01\x40",
    ],
)
def test_a_section_of_the_wrong_kind_is_found_before_the_message_is_accepted(sent: bytes) -> None:
    with pytest.raises(DecodeError):
        Stored(sent).check()


def test_a_batch_is_its_messages() -> None:
    first = encoded(body=b"1", id="a", properties={"n": uint(1)})
    second = encoded(body=b"2" * 300, id="b")
    batch = section(raw.PROPERTIES, ["a"]) + section(raw.DATA, first) + section(raw.DATA, second)
    assert split_batch(batch) == [first, second]


@pytest.mark.parametrize("batch", [b"", section(raw.PROPERTIES, ["a"]), b"\x00\x53\x75"])
def test_a_batch_without_messages_is_an_error(batch: bytes) -> None:
    with pytest.raises(DecodeError):
        split_batch(batch)
