"""Topics and subscriptions as Microsoft's clients find them."""

import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import AutoLockRenewer, ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageBodyType
from azure.servicebus.exceptions import (
    MessagingEntityNotFoundError,
)

from local.servicebus.topology import Subscription, Topic
from tests.contract.servicebus.conftest import Connect, Serve
from tests.contract.servicebus.raw_client import send
from tests.contract.servicebus.running import RunningBus
from tests.contract.servicebus.sdk import SyncSdk, bodies, body, take


def test_messages_of_the_other_body_kinds_arrive(bus: RunningBus, connect: Connect) -> None:
    client = connect(bus)
    value = {"a": [1, 2.5, None]}
    client.sender().send_messages(
        [
            AmqpAnnotatedMessage(value_body=value),
            AmqpAnnotatedMessage(sequence_body=[[1, 2], [3]]),
            AmqpAnnotatedMessage(data_body=[b"one", b"two"]),
        ]
    )
    got = take(client.receiver(delete=True), 3)
    assert [each.body_type for each in got] == [
        AmqpMessageBodyType.VALUE,
        AmqpMessageBodyType.SEQUENCE,
        AmqpMessageBodyType.DATA,
    ]
    assert got[0].body == {b"a": [1, 2.5, None]}
    assert list(got[1].body) == [[1, 2], [3]]
    assert list(got[2].body) == [b"one", b"two"]


def test_an_entity_that_does_not_exist_is_named(bus: RunningBus, connect: Connect) -> None:
    client = connect(bus)
    with pytest.raises(MessagingEntityNotFoundError, match="/nope' could not be found"):
        client.sender("nope").send_messages(ServiceBusMessage("x"))
    with pytest.raises(MessagingEntityNotFoundError, match="/jobs/Subscriptions/nope' could not"):
        client.receiver("nope").receive_messages(1)


def test_a_repeated_message_id_is_dropped_until_its_window_ends(
    serve: Serve, connect: Connect
) -> None:
    bus = serve(Topic("jobs", (Subscription("sub"),), duplicate_window=60_000))
    client = connect(bus)
    sender = client.sender()
    sender.send_messages(ServiceBusMessage("first", message_id="m"))
    sender.send_messages(ServiceBusMessage("dropped", message_id="m"))
    sender.send_messages([ServiceBusMessage("dropped", message_id="m"), ServiceBusMessage("other")])
    bus.pass_time(50)
    sender.send_messages(ServiceBusMessage("dropped, too", message_id="m"))
    bus.pass_time(10)
    sender.send_messages(ServiceBusMessage("again", message_id="m"))
    seen = client.receiver().peek_messages(10)
    assert bodies(seen) == [b"first", b"other", b"again"]


def test_too_many_deliveries_end_in_the_dead_letter_queue(
    bus: RunningBus, connect: Connect
) -> None:
    client = connect(bus)
    send(bus.port, "a", id="m")
    receiver = client.receiver()
    for delivery in range(3):
        (got,) = take(receiver)
        assert got.delivery_count == delivery
        receiver.abandon_message(got)
    dead_letters = client.receiver(dead=True)
    (dead,) = take(dead_letters)
    assert dead.dead_letter_reason == "MaxDeliveryCountExceeded"
    assert dead.dead_letter_error_description == (
        "Message could not be consumed after 3 delivery attempts."
    )
    assert (body(dead), dead.message_id, dead.delivery_count) == (b"a", "m", 3)
    assert dead.enqueued_time_utc == got.enqueued_time_utc
    dead_letters.abandon_message(dead)
    dead_letters.complete_message(take(dead_letters)[0])


def test_an_expired_message_ends_in_the_dead_letter_queue(serve: Serve, connect: Connect) -> None:
    bus = serve(Topic("jobs", (Subscription("sub", dead_letter_on_expiration=True),)))
    client = connect(bus)
    client.sender().send_messages(ServiceBusMessage("a", time_to_live=timedelta(seconds=30)))
    bus.pass_time(31)
    (dead,) = client.receiver(dead=True).peek_messages(10)
    assert (body(dead), dead.dead_letter_reason) == (b"a", "TTLExpiredException")
    assert dead.time_to_live == timedelta(seconds=30)


def test_each_message_goes_to_one_of_several_receivers(bus: RunningBus, connect: Connect) -> None:
    client = connect(bus)
    send(bus.port, *(str(n) for n in range(10)))
    first, second = client.receiver(), client.receiver()
    got = take(first, 3) + take(second, 4) + take(first, 3)
    assert bodies(got) == [b"%d" % n for n in range(10)]


def test_a_waiting_receiver_gets_what_is_sent_scheduled_or_given_back(
    serve: Serve, connect: Connect
) -> None:
    bus = serve(Topic("jobs", (Subscription("sub", lock_duration=600),)))
    client = connect(bus)
    soon = datetime.now(UTC) + timedelta(seconds=1)
    client.sender().send_messages(ServiceBusMessage("later", scheduled_enqueue_time_utc=soon))
    receiver = client.receiver()
    (got,) = take(receiver)
    assert datetime.now(UTC) >= soon
    (again,) = take(receiver)
    assert (body(again), again.delivery_count) == (b"later", 1)
    assert again.lock_token != got.lock_token
    receiver.complete_message(again)


def test_the_clients_lock_renewer_keeps_a_message_locked(serve: Serve, stack: ExitStack) -> None:
    bus = serve(Topic("jobs", (Subscription("sub", lock_duration=1_000),)))
    client = SyncSdk(bus.connection_string)
    stack.callback(client.close)
    send(bus.port, "a")
    receiver = client.receiver()
    with AutoLockRenewer() as renewer:
        (got,) = take(receiver)
        first_end = got.locked_until_utc
        renewer.register(receiver, got, max_lock_renewal_duration=10)
        deadline = time.monotonic() + 5
        while got.locked_until_utc - first_end < timedelta(seconds=1.5):  # type: ignore[operator]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        receiver.complete_message(got)
    assert receiver.peek_messages(1, sequence_number=1) == []


def test_messages_of_a_receiver_that_goes_away_stay_locked_until_their_time(
    bus: RunningBus, connect: Connect
) -> None:
    client = connect(bus)
    send(bus.port, "held", "free")
    gone = client.receiver()
    take(gone)
    gone.close()
    receiver = client.receiver()
    assert bodies(take(receiver)) == [b"free"]
    bus.pass_time(60)
    got = take(receiver, 2)
    assert [(body(each), each.delivery_count) for each in got] == [(b"held", 1), (b"free", 1)]


def test_prefetched_messages_that_nobody_asked_for_come_back_uncounted(
    bus: RunningBus, connect: Connect
) -> None:
    client = connect(bus)
    send(bus.port, *(str(n) for n in range(5)))
    greedy = client.receiver(prefetch=10)
    (first,) = take(greedy)
    greedy.complete_message(first)
    greedy.close()
    got = take(client.receiver(), 4)
    assert [(body(each), each.delivery_count) for each in got] == [
        (b"%d" % n, 0) for n in range(1, 5)
    ]
