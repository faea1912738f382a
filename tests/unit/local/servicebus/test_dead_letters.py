"""The ways into the dead-letter queue, and the one out of it."""

import pytest

from local.servicebus.errors import LockLost, NotAllowed
from local.servicebus.topology import Subscription
from tests.unit.local.servicebus.bus import START, Bus, bodies, message
from tests.unit.local.servicebus.conftest import MakeBus

LOCK = 60_000
DEAD = "sub/$DeadLetterQueue"


def test_a_message_that_is_given_up_says_why_in_the_dead_letter_queue(bus: Bus) -> None:
    bus.send(message("a", id="m", subject="s", properties={"kept": 1}))
    (got,) = bus.receive()
    bus.pass_time(1_000)
    bus.dead_letter(got, DeadLetterReason="bad", DeadLetterErrorDescription="cannot be read")
    assert bus.peek() == []
    (dead,) = bus.receive(DEAD)
    assert dead.body == "a"
    assert (dead.message.id, dead.message.subject) == ("m", "s")
    assert dead.message.properties == {
        "kept": 1,
        "DeadLetterReason": "bad",
        "DeadLetterErrorDescription": "cannot be read",
    }
    assert dead.number == got.number
    assert dead.annotation("x-opt-enqueued-time") == START


def test_the_last_allowed_delivery_ends_in_the_dead_letter_queue(bus: Bus) -> None:
    bus.send(message("a"))
    bus.abandon(bus.receive()[0])
    bus.receive()
    bus.pass_time(LOCK)
    bus.abandon(bus.receive()[0])
    assert bus.receive() == []
    (dead,) = bus.receive(DEAD)
    assert dead.message.delivery_count == 3
    assert dead.message.properties == {
        "DeadLetterReason": "MaxDeliveryCountExceeded",
        "DeadLetterErrorDescription": "Message could not be consumed after 3 delivery attempts.",
    }


def test_a_lock_that_ends_for_the_last_time_dead_letters(bus: Bus) -> None:
    bus.send(message("a"))
    for _ in range(3):
        bus.receive()
        bus.pass_time(LOCK)
    assert bodies(bus.peek(DEAD)) == ["a"]


def test_dead_letters_are_delivered_any_number_of_times(bus: Bus) -> None:
    bus.send(message("a"))
    bus.dead_letter(bus.receive()[0])
    for count in range(5):
        (dead,) = bus.receive(DEAD)
        assert dead.message.delivery_count == count
        bus.abandon(dead, DEAD)
    (dead,) = bus.receive(DEAD)
    bus.pass_time(LOCK)
    with pytest.raises(LockLost):
        bus.complete(dead, DEAD)
    bus.complete(bus.receive(DEAD)[0], DEAD)
    assert bus.peek(DEAD) == []


def test_a_dead_letter_cannot_be_dead_lettered_again(bus: Bus) -> None:
    bus.send(message("a"))
    bus.dead_letter(bus.receive()[0])
    (dead,) = bus.receive(DEAD)
    with pytest.raises(NotAllowed, match="cannot be dead-lettered again"):
        bus.dead_letter(dead, DEAD)
    bus.complete(dead, DEAD)


# Time to live


EXPIRING = Subscription(
    "sub",
    lock_duration=LOCK,
    max_delivery_count=3,
    time_to_live=10_000,
    dead_letter_on_expiration=True,
)


def test_a_message_expires_exactly_after_its_time(make_bus: MakeBus) -> None:
    bus = make_bus(EXPIRING)
    bus.send(message("a"))
    bus.pass_time(9_999)
    (got,) = bus.receive()
    bus.release(got)
    assert bus.broker.next_due() == START + 10_000
    bus.pass_time(1)
    assert bus.receive() == []


def test_an_expired_message_is_dead_lettered_where_the_subscription_says_so(
    make_bus: MakeBus,
) -> None:
    bus = make_bus(EXPIRING)
    bus.send(message("a"))
    bus.pass_time(10_000)
    (dead,) = bus.receive(DEAD)
    assert dead.message.properties == {
        "DeadLetterReason": "TTLExpiredException",
        "DeadLetterErrorDescription": "The message expired and was dead lettered.",
    }


def test_an_expired_message_is_dropped_elsewhere(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("sub", time_to_live=10_000))
    bus.send(message("a"))
    bus.pass_time(10_000)
    assert bus.peek() == bus.peek(DEAD) == []


@pytest.mark.parametrize(
    ("seconds", "topic", "subscription", "shortest"),
    [
        (5, 10_000, 20_000, 5_000),
        (30, 10_000, 20_000, 10_000),
        (30, 20_000, 10_000, 10_000),
        (5, None, None, 5_000),
        (0, 10_000, None, 10_000),
        (0, None, 10_000, 10_000),
    ],
)
def test_the_shortest_of_message_topic_and_subscription_holds(
    make_bus: MakeBus, seconds: int, topic: int | None, subscription: int | None, shortest: int
) -> None:
    bus = make_bus(Subscription("sub", time_to_live=subscription), time_to_live=topic)
    bus.send(message("a", ttl=seconds))
    assert bus.peek()[0].message.ttl == shortest / 1000
    bus.pass_time(shortest - 1)
    assert bodies(bus.peek()) == ["a"]
    bus.pass_time(1)
    assert bus.peek() == []


def test_a_locked_message_does_not_expire_but_its_return_does(make_bus: MakeBus) -> None:
    bus = make_bus(EXPIRING)
    bus.send(message("completed"), message("abandoned"), message("released"), message("left"))
    completed, abandoned, released, _ = bus.receive()
    bus.pass_time(20_000)
    bus.complete(completed)
    bus.abandon(abandoned)
    bus.release(released)
    assert bodies(bus.peek(DEAD)) == ["abandoned", "released"]
    bus.pass_time(LOCK)
    assert bodies(bus.peek(DEAD)) == ["abandoned", "released", "left"]


def test_deferred_messages_and_dead_letters_do_not_expire(make_bus: MakeBus) -> None:
    bus = make_bus(EXPIRING)
    bus.send(message("deferred"), message("dead"))
    deferred, dead = bus.receive()
    bus.defer(deferred)
    bus.dead_letter(dead)
    bus.pass_time(1_000_000)
    assert bodies(bus.receive_deferred(deferred.number)) == ["deferred"]
    assert bodies(bus.receive(DEAD)) == ["dead"]
