"""Microsoft's unmodified Python clients against the broker: what an application does with them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusMessageState
from azure.servicebus.exceptions import MessageLockLostError, MessageNotFoundError

from tests.contract.servicebus.raw_client import send
from tests.contract.servicebus.running import RunningBus
from tests.contract.servicebus.sdk import Sdk, bodies, body, take


def test_a_message_arrives_with_everything_that_was_sent(sdk: Sdk) -> None:
    sent_at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    properties: dict[str, Any] = {
        "text": "ä",
        "int": 7,
        "float": 0.5,
        "flag": True,
        "none": None,
        "uuid": UUID(int=5),
        "time": sent_at,
    }
    sent = ServiceBusMessage(
        b"\x00\xff not text",
        message_id="m-1",
        subject="JobStarted",
        content_type="application/json",
        correlation_id="c-1",
        to="somewhere",
        reply_to="back",
        time_to_live=timedelta(hours=1),
        application_properties=properties,  # type: ignore[arg-type]  # None and times are taken, too
    )
    sdk.sender().send_messages(sent)
    before = datetime.now(UTC)
    receiver = sdk.receiver()
    (got,) = take(receiver)
    assert body(got) == b"\x00\xff not text"
    assert (got.message_id, got.subject, got.correlation_id) == ("m-1", "JobStarted", "c-1")
    assert (got.content_type, got.to, got.reply_to) == ("application/json", "somewhere", "back")
    assert got.time_to_live == timedelta(hours=1)
    received = {key.decode(): value for key, value in got.application_properties.items()}  # type: ignore[union-attr]
    milliseconds = int(sent_at.timestamp() * 1000)
    assert received == properties | {"text": "ä".encode(), "time": milliseconds}
    assert got.delivery_count == 0
    assert got.state is ServiceBusMessageState.ACTIVE
    assert abs(got.enqueued_time_utc - before) < timedelta(seconds=10)  # type: ignore[operator]
    assert timedelta(seconds=50) < got.locked_until_utc - datetime.now(UTC) <= timedelta(minutes=1)  # type: ignore[operator]
    receiver.complete_message(got)


def test_each_settlement_does_what_it_says(sdk: Sdk, bus: RunningBus) -> None:
    send(bus.port, *"abcd")
    receiver = sdk.receiver()
    completed, abandoned, dead, deferred = take(receiver, 4)
    receiver.complete_message(completed)
    receiver.dead_letter_message(dead, reason="bad", error_description="cannot be read")
    receiver.defer_message(deferred)
    receiver.abandon_message(abandoned)
    (again,) = take(receiver)
    assert (body(again), again.delivery_count) == (b"b", 1)
    receiver.complete_message(again)

    (by_number,) = receiver.receive_deferred_messages([deferred.sequence_number])
    assert (body(by_number), by_number.state) == (b"d", ServiceBusMessageState.DEFERRED)
    receiver.complete_message(by_number)

    dead_letters = sdk.receiver(dead=True)
    (dead_letter,) = take(dead_letters)
    assert body(dead_letter) == b"c"
    assert dead_letter.dead_letter_reason == "bad"
    assert dead_letter.dead_letter_error_description == "cannot be read"
    assert dead_letter.sequence_number == dead.sequence_number
    dead_letters.complete_message(dead_letter)
    assert receiver.peek_messages(10, sequence_number=1) == dead_letters.peek_messages(10) == []


def test_a_lock_that_has_ended_is_told_to_the_one_who_settles(sdk: Sdk, bus: RunningBus) -> None:
    send(bus.port, "a")
    receiver = sdk.receiver()
    (late,) = take(receiver)
    bus.pass_time(60)
    for settle in (
        receiver.complete_message,
        receiver.abandon_message,
        receiver.dead_letter_message,
        receiver.defer_message,
        receiver.renew_message_lock,
    ):
        with pytest.raises(MessageLockLostError):
            settle(late)
    (again,) = take(receiver)
    assert (body(again), again.delivery_count) == (b"a", 1)
    receiver.complete_message(again)


def test_a_renewed_lock_lasts_longer(sdk: Sdk, bus: RunningBus) -> None:
    send(bus.port, "a")
    receiver = sdk.receiver()
    (got,) = take(receiver)
    bus.pass_time(40)
    until = receiver.renew_message_lock(got)
    assert until == got.locked_until_utc
    bus.pass_time(40)
    receiver.complete_message(got)
    assert receiver.peek_messages(1) == []


def test_messages_are_scheduled_seen_and_taken_back(sdk: Sdk, bus: RunningBus) -> None:
    sender = sdk.sender()
    at = datetime.now(UTC) + timedelta(minutes=5)
    kept, cancelled = sender.schedule_messages(
        [ServiceBusMessage("kept"), ServiceBusMessage("cancelled")], at
    )
    sender.send_messages(ServiceBusMessage("annotated", scheduled_enqueue_time_utc=at))
    sender.cancel_scheduled_messages([cancelled])
    with pytest.raises(MessageNotFoundError):
        sender.cancel_scheduled_messages([cancelled])
    receiver = sdk.receiver()
    assert receiver.peek_messages(1) == []
    bus.pass_time(301)
    got = take(receiver, 2)
    assert bodies(got) == [b"kept", b"annotated"]
    assert {each.state for each in got} == {ServiceBusMessageState.ACTIVE}
    assert got[0].enqueued_time_utc >= at  # type: ignore[operator]
    assert kept < cancelled
    for each in got:
        receiver.complete_message(each)


def test_peeking_shows_what_is_there_in_any_state(sdk: Sdk, bus: RunningBus) -> None:
    send(bus.port, *"abc")
    receiver = sdk.receiver()
    locked, deferred = take(receiver, 2)
    receiver.defer_message(deferred)
    seen = receiver.peek_messages(10, sequence_number=1)
    assert bodies(seen) == [b"a", b"b", b"c"]
    active, set_aside = ServiceBusMessageState.ACTIVE, ServiceBusMessageState.DEFERRED
    assert [each.state for each in seen] == [active, set_aside, active]
    later = receiver.peek_messages(1, sequence_number=deferred.sequence_number)
    assert bodies(later) == [b"b"]
    receiver.complete_message(locked)


def test_a_deferred_message_that_is_not_there_is_not_found(sdk: Sdk) -> None:
    receiver = sdk.receiver()
    with pytest.raises(MessageNotFoundError, match="no unlocked deferred message 999"):
        receiver.receive_deferred_messages([999])


def test_deferred_messages_are_settled_by_their_lock(sdk: Sdk, bus: RunningBus) -> None:
    send(bus.port, *"abcd")
    receiver = sdk.receiver()
    numbers = []
    for each in take(receiver, 4):
        receiver.defer_message(each)
        numbers.append(each.sequence_number)
    first, second, third, fourth = receiver.receive_deferred_messages(numbers)
    receiver.complete_message(first)
    receiver.abandon_message(second)
    receiver.dead_letter_message(third, reason="r", error_description="d")
    receiver.defer_message(fourth)
    assert bodies(receiver.peek_messages(10, sequence_number=1)) == [b"b", b"d"]
    (dead,) = sdk.receiver(dead=True).peek_messages(10)
    assert (dead.dead_letter_reason, dead.dead_letter_error_description) == ("r", "d")
    (again,) = receiver.receive_deferred_messages([second.sequence_number])
    assert again.delivery_count == 1


def test_received_and_deleted_messages_are_gone(sdk: Sdk, bus: RunningBus) -> None:
    send(bus.port, *"ab")
    receiver = sdk.receiver(delete=True)
    assert bodies(take(receiver, 2)) == [b"a", b"b"]
    assert receiver.peek_messages(10, sequence_number=1) == []
