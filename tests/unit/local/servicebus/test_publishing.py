"""What happens to a message between its sender and the subscriptions."""

import re
from uuid import UUID

import pytest
from proton import Message

from local.servicebus.errors import BadMessage, MessageNotFound, MessageTooLarge
from local.servicebus.filters import parse_sql_filter
from local.servicebus.message import LARGEST_MESSAGE
from local.servicebus.topology import Subscription
from tests.unit.local.servicebus.bus import START, Bus, bodies, message
from tests.unit.local.servicebus.conftest import MakeBus

SUB = Subscription("sub")
WINDOW = 60_000


def test_every_subscription_gets_its_own_copy(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("a"), Subscription("b"))
    bus.send(message("x"))
    (first,) = bus.receive("a")
    bus.complete(first, "a")
    assert bodies(bus.receive("b")) == ["x"]


def test_a_rule_decides_which_messages_a_subscription_gets(make_bus: MakeBus) -> None:
    rules = (
        parse_sql_filter("sys.Label IS NULL OR sys.Label <> 'JobQueued'"),
        parse_sql_filter("urgent = TRUE"),
    )
    bus = make_bus(Subscription("sub", rules=rules))
    bus.send(
        message("queued", subject="JobQueued"),
        message("started", subject="JobStarted"),
        message("urgent", subject="JobQueued", properties={"urgent": True}),
        message("both", properties={"urgent": True}),
        message("without subject"),
    )
    assert bodies(bus.receive()) == ["started", "urgent", "both", "without subject"]


def test_a_message_that_no_rule_wants_is_accepted_and_gone(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("sub", rules=(parse_sql_filter("1 = 2"),)))
    assert bus.send(message("x")) == [0]
    assert bus.peek() == []


def test_the_time_of_acceptance_is_the_enqueued_time(bus: Bus) -> None:
    bus.send(message("x"))
    assert bus.receive()[0].annotation("x-opt-enqueued-time") == START


def test_a_message_of_the_largest_size_is_taken_and_a_larger_one_is_not(bus: Bus) -> None:
    overhead = len(message("x" * 200_000)) - 200_000
    largest = message("x" * (LARGEST_MESSAGE - overhead))
    assert len(largest) == LARGEST_MESSAGE
    bus.send(largest)
    with pytest.raises(MessageTooLarge, match="262145 bytes; 262144 are allowed"):
        bus.send(message("x" * (LARGEST_MESSAGE - overhead + 1)))
    assert len(bus.peek()) == 1


def test_messages_sent_together_are_accepted_together_or_not_at_all(bus: Bus) -> None:
    with pytest.raises(BadMessage):
        bus.send(message("good"), b"\x00\x53\x75")
    assert bus.peek() == []


# Message ids


def test_a_message_without_an_id_gets_one_that_all_subscriptions_see(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("a"), Subscription("b"))
    bus.send(message("x", subject="s"), message("y"))
    first, second = bus.receive("a")
    assert first.message.subject == "s"
    assert re.fullmatch("[0-9a-f]{32}", str(first.message.id))
    assert first.message.id != second.message.id
    assert [each.message.id for each in bus.receive("b")] == [first.message.id, second.message.id]


def test_a_message_keeps_its_own_id_whatever_its_type(bus: Bus) -> None:
    bus.send(message("text", id="m"), message("number", id=5), message("uuid", id=UUID(int=7)))
    assert [each.message.id for each in bus.receive()] == ["m", 5, UUID(int=7)]


# Duplicate detection


def test_a_second_message_with_the_same_id_is_accepted_and_dropped(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("first", id="m"))
    assert bus.send(message("second", id="m")) == [0]
    assert bodies(bus.receive()) == ["first"]


def test_the_window_ends_exactly_after_its_length(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("first", id="m"))
    bus.clock.time = START + WINDOW - 1
    bus.send(message("within", id="m"))
    bus.clock.time = START + WINDOW
    bus.send(message("after", id="m"))
    assert bodies(bus.receive()) == ["first", "after"]


def test_a_duplicate_does_not_prolong_the_window(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("first", id="m"))
    bus.pass_time(WINDOW - 1)
    bus.send(message("dropped", id="m"))
    bus.pass_time(1)
    bus.send(message("again", id="m"))
    assert bodies(bus.receive()) == ["first", "again"]


def test_the_id_counts_even_when_the_message_is_settled(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("first", id="m"))
    bus.complete(bus.receive()[0])
    bus.send(message("second", id="m"))
    assert bus.receive() == []


def test_duplicates_within_one_batch_are_dropped(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("a", id="m"), message("b", id="m"), message("c", id="n"))
    assert bodies(bus.receive()) == ["a", "c"]


def test_messages_without_id_are_never_duplicates(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("a"), message("b"))
    assert bodies(bus.receive()) == ["a", "b"]


def test_without_detection_equal_ids_are_no_duplicates(bus: Bus) -> None:
    bus.send(message("a", id="m"), message("b", id="m"))
    assert bodies(bus.receive()) == ["a", "b"]


def test_the_ids_survive_a_restart(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("first", id="m"))
    bus.close()
    bus.open(SUB, duplicate_window=WINDOW)
    bus.send(message("second", id="m"))
    assert bodies(bus.receive()) == ["first"]


def test_ids_whose_window_has_ended_are_forgotten(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("a", id="m"))
    due = bus.broker.next_due()
    assert due is not None
    bus.pass_time(due - START)
    assert bus.store.next_window_end() is None


# Scheduled messages


def test_a_scheduled_message_appears_at_its_time_and_not_before(bus: Bus) -> None:
    bus.send(message("later", scheduled=START + 5_000))
    bus.pass_time(4_999)
    assert bus.receive() == []
    assert bus.broker.next_due() == START + 5_000
    bus.pass_time(1)
    (got,) = bus.receive()
    assert got.body == "later"
    assert got.annotation("x-opt-enqueued-time") == START + 5_000


def test_a_scheduled_message_wakes_its_queue(bus: Bus) -> None:
    bus.send(message("later", scheduled=START + 5_000))
    assert bus.broker.ready == set()
    bus.pass_time(5_000)
    assert bus.broker.ready == {bus.queue("sub").id}


def test_a_time_that_has_passed_is_no_schedule(bus: Bus) -> None:
    assert bus.send(message("x", scheduled=START)) == [0]
    assert bodies(bus.receive()) == ["x"]


def test_a_scheduled_message_can_be_taken_back(bus: Bus) -> None:
    (number,) = bus.send(message("later", scheduled=START + 5_000))
    bus.cancel(number)
    bus.pass_time(5_000)
    assert bus.receive() == []


def test_what_has_been_published_cannot_be_taken_back(bus: Bus) -> None:
    (number,) = bus.send(message("later", scheduled=START + 5_000))
    bus.pass_time(5_000)
    with pytest.raises(MessageNotFound, match=f"scheduled message {number} in 'jobs'"):
        bus.cancel(number)
    assert bodies(bus.receive()) == ["later"]


def test_taking_back_is_all_or_nothing(bus: Bus) -> None:
    (number,) = bus.send(message("later", scheduled=START + 5_000))
    with pytest.raises(MessageNotFound):
        bus.cancel(number, number + 100)
    assert bodies(bus.peek("jobs")) == ["later"]


def test_scheduled_messages_are_seen_on_the_topic_only(bus: Bus) -> None:
    bus.send(message("later", scheduled=START + 5_000))
    (seen,) = bus.peek("jobs")
    assert (seen.body, seen.annotation("x-opt-message-state")) == ("later", 2)
    assert bus.peek() == []


def test_the_rules_are_asked_when_the_message_is_due(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("sub"))
    bus.send(message("x", subject="a", scheduled=START + 5_000))
    bus.close()
    bus.open(Subscription("sub", rules=(parse_sql_filter("sys.Label = 'b'"),)))
    bus.pass_time(5_000)
    assert bus.peek() == []


def test_an_id_counts_from_the_moment_it_was_scheduled(make_bus: MakeBus) -> None:
    bus = make_bus(SUB, duplicate_window=WINDOW)
    bus.send(message("later", id="m", scheduled=START + 5_000))
    assert bus.send(message("now", id="m")) == [0]
    bus.pass_time(5_000)
    assert bodies(bus.receive()) == ["later"]


def test_time_to_live_counts_from_the_scheduled_time(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("sub", time_to_live=1_000))
    bus.send(message("later", scheduled=START + 5_000))
    bus.pass_time(5_000)
    bus.pass_time(999)
    assert bodies(bus.peek()) == ["later"]
    bus.pass_time(1)
    assert bus.peek() == []


def test_messages_of_any_body_type_are_published(bus: Bus) -> None:
    bus.send(bytes(Message(body=[1, {"a": None}]).encode()))
    assert bus.receive()[0].message.body == [1, {"a": None}]
