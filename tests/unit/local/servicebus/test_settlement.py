"""Locks, what ends them, and the way into the dead-letter queue."""

from collections.abc import Callable

import pytest

from local.servicebus.errors import LockLost, MessageNotFound
from local.servicebus.topology import Subscription
from tests.unit.local.servicebus.bus import START, Bus, Got, bodies, message
from tests.unit.local.servicebus.conftest import MakeBus

LOCK = 60_000
DEAD = "sub/$DeadLetterQueue"


def test_a_locked_message_is_handed_to_nobody_else(bus: Bus) -> None:
    bus.send(message("a"), message("b"))
    assert bodies(bus.receive(count=1)) == ["a"]
    assert bodies(bus.receive()) == ["b"]
    assert bus.receive() == []


def test_a_delivery_tells_until_when_it_is_locked(bus: Bus) -> None:
    bus.send(message("a"))
    assert bus.receive()[0].annotation("x-opt-locked-until") == START + LOCK


def test_a_completed_message_is_gone(bus: Bus) -> None:
    bus.send(message("a"))
    bus.complete(bus.receive()[0])
    bus.pass_time(LOCK)
    assert bus.peek() == []


def test_a_message_that_is_deleted_with_its_delivery_is_gone(bus: Bus) -> None:
    bus.send(message("a"))
    (got,) = bus.receive(delete=True)
    assert (got.body, got.token) == ("a", None)
    assert bus.peek() == []


def test_an_abandoned_message_comes_back_at_its_old_place_one_delivery_older(bus: Bus) -> None:
    bus.send(message("a"), message("b"))
    (got,) = bus.receive(count=1)
    bus.abandon(got)
    again, other = bus.receive()
    assert (again.body, again.message.delivery_count) == ("a", 1)
    assert (other.body, other.message.delivery_count) == ("b", 0)


def test_an_abandoned_message_carries_changed_properties(bus: Bus) -> None:
    bus.send(message("a", properties={"kept": 1, "changed": 2}))
    bus.abandon(bus.receive()[0], changed="three", added=True)
    (again,) = bus.receive()
    assert again.message.properties == {"kept": 1, "changed": "three", "added": True}


def test_a_released_message_comes_back_as_if_it_had_not_been_delivered(bus: Bus) -> None:
    bus.send(message("a"))
    for _ in range(5):
        (got,) = bus.receive()
        assert got.message.delivery_count == 0
        bus.release(got)


def test_a_lock_ends_exactly_after_its_time_and_counts_as_a_delivery(bus: Bus) -> None:
    bus.send(message("a"))
    bus.receive()
    bus.pass_time(LOCK - 1)
    assert bus.receive() == []
    assert bus.broker.next_due() == START + LOCK
    bus.broker.ready.clear()
    bus.pass_time(1)
    assert bus.broker.ready == {bus.queue("sub").id}
    (again,) = bus.receive()
    assert again.message.delivery_count == 1


SETTLEMENTS: list[Callable[[Bus, Got], object]] = [
    Bus.complete,
    Bus.abandon,
    Bus.release,
    Bus.defer,
    Bus.dead_letter,
    Bus.renew,
]


@pytest.mark.parametrize("settle", SETTLEMENTS)
def test_settling_at_the_moment_the_lock_ends_is_too_late(
    bus: Bus, settle: Callable[[Bus, Got], object]
) -> None:
    bus.send(message("a"))
    (got,) = bus.receive()
    bus.clock.time = START + LOCK
    with pytest.raises(LockLost):
        settle(bus, got)
    assert bodies(bus.receive()) == ["a"]


@pytest.mark.parametrize("settle", SETTLEMENTS)
def test_a_lock_that_is_over_is_refused_even_before_the_sweep(
    bus: Bus, settle: Callable[[Bus, Got], object]
) -> None:
    bus.send(message("a"))
    (got,) = bus.receive()
    bus.clock.time = START + LOCK
    bus.broker.sweep = lambda: None  # type: ignore[method-assign]  # the timer is late
    with pytest.raises(LockLost, match="lock expired"):
        settle(bus, got)


@pytest.mark.parametrize("settle", SETTLEMENTS)
def test_a_message_is_settled_once(bus: Bus, settle: Callable[[Bus, Got], object]) -> None:
    bus.send(message("a"))
    (got,) = bus.receive()
    bus.complete(got)
    with pytest.raises(LockLost):
        settle(bus, got)


def test_a_lock_is_good_for_its_own_queue_only(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("sub"), Subscription("other"))
    bus.send(message("a"))
    (got,) = bus.receive("sub")
    with pytest.raises(LockLost, match="Subscriptions/other"):
        bus.complete(got, "other")


def test_a_renewed_lock_lasts_its_whole_time_again(bus: Bus) -> None:
    bus.send(message("a"))
    (got,) = bus.receive()
    bus.pass_time(LOCK - 1)
    assert bus.renew(got) == START + 2 * LOCK - 1
    bus.pass_time(LOCK - 1)
    assert bus.receive() == []
    bus.complete(got)


def test_renewing_several_locks_is_all_or_nothing(bus: Bus) -> None:
    bus.send(message("a"), message("b"))
    first, second = bus.receive()
    bus.complete(second)
    bus.pass_time(1_000)
    with pytest.raises(LockLost):
        bus.renew_all(first, second)
    assert bus.broker.next_due() == START + LOCK


def test_locks_outlive_a_restart(make_bus: MakeBus) -> None:
    subscription = Subscription("sub", lock_duration=LOCK)
    bus = make_bus(subscription)
    bus.send(message("a"), message("b"))
    first, second = bus.receive()
    bus.close()
    bus.open(subscription)
    assert bus.receive() == []
    bus.complete(first)
    bus.pass_time(LOCK)
    assert bodies(bus.receive()) == [second.body]


# Deferred messages


def test_a_deferred_message_is_received_only_by_its_number(bus: Bus) -> None:
    bus.send(message("a"))
    (got,) = bus.receive()
    bus.defer(got, why="later")
    assert bus.receive() == []
    (deferred,) = bus.receive_deferred(got.number)
    assert (deferred.body, deferred.message.delivery_count) == ("a", 0)
    assert deferred.annotation("x-opt-message-state") == 1
    assert deferred.message.properties == {"why": "later"}
    bus.complete(deferred)
    assert bus.peek() == []


def test_a_deferred_message_that_is_given_back_stays_deferred(bus: Bus) -> None:
    bus.send(message("a"))
    (got,) = bus.receive()
    bus.defer(got)
    bus.abandon(bus.receive_deferred(got.number)[0])
    bus.receive_deferred(got.number)
    bus.pass_time(LOCK)
    assert bus.receive() == []
    (again,) = bus.receive_deferred(got.number)
    assert again.message.delivery_count == 2


def test_a_deferred_message_can_be_deleted_with_its_delivery(bus: Bus) -> None:
    bus.send(message("a"))
    (got,) = bus.receive()
    bus.defer(got)
    assert bodies(bus.receive_deferred(got.number, delete=True)) == ["a"]
    assert bus.peek() == []


def test_messages_that_are_not_deferred_or_locked_are_not_found(bus: Bus) -> None:
    bus.send(message("active"), message("deferred"))
    active, deferred = bus.receive()
    bus.release(active)
    bus.defer(deferred)
    for numbers in ((active.number,), (99_999,), (deferred.number, active.number)):
        with pytest.raises(MessageNotFound, match="no unlocked deferred message"):
            bus.receive_deferred(*numbers)
    bus.receive_deferred(deferred.number)
    with pytest.raises(MessageNotFound):
        bus.receive_deferred(deferred.number)


# Looking without taking


def test_peeking_shows_every_state_oldest_first_and_changes_nothing(bus: Bus) -> None:
    bus.send(message("locked"), message("deferred"), message("active"))
    locked, deferred = bus.receive(count=2)
    bus.defer(deferred)
    for _ in range(2):
        seen = bus.peek()
        assert bodies(seen) == ["locked", "deferred", "active"]
        assert [each.annotation("x-opt-message-state") for each in seen] == [0, 1, 0]
    assert bodies(bus.peek(start=deferred.number)) == ["deferred", "active"]
    assert bodies(bus.peek(start=locked.number, count=1)) == ["locked"]
    bus.complete(locked)
