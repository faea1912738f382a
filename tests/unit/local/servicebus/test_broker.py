"""Entities, restarts with a changed topology, the store, and sweeps."""

import logging
import sqlite3
from pathlib import Path

import pytest

from local.servicebus import broker as broker_module
from local.servicebus.errors import NotAllowed, NotFound
from local.servicebus.store import FILE_NAME, SCHEMA_VERSION, Store, StoreError
from local.servicebus.topology import Subscription
from tests.unit.local.servicebus.bus import Bus, bodies, message
from tests.unit.local.servicebus.conftest import MakeBus

# Addresses


@pytest.mark.parametrize(
    "address",
    [
        "jobs/Subscriptions/sub",
        "/jobs/Subscriptions/sub",
        "JOBS/subscriptions/SUB",
        "amqps://localhost:5672/jobs/Subscriptions/sub",
        "sb://localhost/jobs/subscriptions/sub/",
    ],
)
def test_an_address_is_found_however_clients_write_it(bus: Bus, address: str) -> None:
    assert bus.broker.directory.queue(address) is bus.queue("sub")


@pytest.mark.parametrize("suffix", ["$DeadLetterQueue", "$deadletterqueue", "$DEADLETTERQUEUE"])
def test_the_dead_letter_queue_is_found_ignoring_case(bus: Bus, suffix: str) -> None:
    found = bus.broker.directory.queue(f"/jobs/Subscriptions/sub/{suffix}")
    assert found.address == "jobs/Subscriptions/sub/$DeadLetterQueue"


@pytest.mark.parametrize("address", ["nope", "jobs/Subscriptions/nope", "", None, "jobs/sub"])
def test_an_unknown_address_is_named(bus: Bus, address: str | None) -> None:
    with pytest.raises(NotFound, match=f"'{address}' could not be found"):
        bus.broker.directory.find(address)


def test_topics_are_sent_to_and_queues_received_from(bus: Bus) -> None:
    with pytest.raises(NotAllowed, match="'jobs' is a topic: receive from one of its sub"):
        bus.broker.directory.queue("jobs")
    with pytest.raises(NotAllowed, match="is not a topic"):
        bus.broker.directory.topic("jobs/Subscriptions/sub")


# Restarts


def test_messages_stay_when_entities_come_and_properties_change(make_bus: MakeBus) -> None:
    bus = make_bus(Subscription("sub", lock_duration=1_000))
    bus.send(message("kept"))
    bus.close()
    bus.open(Subscription("SUB", lock_duration=9_000), Subscription("new"))
    bus.send(message("later"))
    kept, later = bus.receive("sub")
    assert bodies([kept, later]) == ["kept", "later"]
    assert kept.annotation("x-opt-locked-until") == bus.clock.time + 9_000
    assert bodies(bus.receive("new")) == ["later"]


def test_an_entity_that_is_no_longer_declared_goes_with_its_messages(
    make_bus: MakeBus, caplog: pytest.LogCaptureFixture
) -> None:
    bus = make_bus(Subscription("sub"), Subscription("old"))
    bus.send(message("a"))
    bus.dead_letter(bus.receive("old")[0], "old")
    bus.send(message("b"))
    bus.close()
    with caplog.at_level(logging.WARNING):
        bus.open(Subscription("sub"))
    assert "removed jobs/subscriptions/old with 1 messages" in caplog.text
    bus.close()
    bus.open(Subscription("sub"), Subscription("old"))
    assert bus.peek("old") == bus.peek("old/$DeadLetterQueue") == []
    assert bodies(bus.peek("sub")) == ["a", "b"]


def test_time_that_passes_while_the_broker_is_away_counts(make_bus: MakeBus) -> None:
    subscription = Subscription("sub", lock_duration=60_000, time_to_live=100_000)
    bus = make_bus(subscription)
    bus.send(message("locked"), message("expiring"))
    bus.receive(count=1)
    bus.close()
    bus.clock.time += 60_000
    bus.open(subscription)
    assert [each.message.delivery_count for each in bus.receive()] == [1, 0]


def test_sequence_numbers_are_never_used_again(bus: Bus) -> None:
    bus.send(message("a"))
    (first,) = bus.receive(delete=True)
    bus.send(message("b"))
    assert bus.receive()[0].number > first.number


# The store


def test_what_a_failed_turn_did_is_not_kept(bus: Bus) -> None:
    bus.send(message("a"))

    def failing_turn() -> None:
        with bus.turn() as broker:
            broker.receiving.take(bus.queue("sub"), 1, 1, delete=True)
            raise InterruptedError

    with pytest.raises(InterruptedError):
        failing_turn()
    assert bodies(bus.peek()) == ["a"]


def test_a_foreign_schema_version_is_refused_by_name(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("PRAGMA user_version = 7")
    database.close()
    with pytest.raises(StoreError, match=f"holds schema version 7, .* version {SCHEMA_VERSION}"):
        Store(tmp_path)


def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("CREATE TABLE theirs (a)")
    database.close()
    with pytest.raises(StoreError, match="holds schema version 0"):
        Store(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match=FILE_NAME):
        Store(tmp_path)


def test_two_brokers_do_not_share_a_folder(tmp_path: Path) -> None:
    first = Store(tmp_path)
    with pytest.raises(StoreError, match="locked"):
        Store(tmp_path)
    first.close()
    Store(tmp_path).close()


# Sweeps


def test_a_sweep_takes_a_bounded_part_of_what_is_due(
    make_bus: MakeBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_module, "SWEEP_SIZE", 10)
    bus = make_bus(Subscription("sub", time_to_live=1_000))
    bus.send(*(message(str(n)) for n in range(25)))
    bus.clock.time += 1_000
    left = []
    for _ in range(3):
        bus.pass_time(0)
        left.append(bus.store.next_message_due() is not None)
    assert left == [True, True, False]


def test_nothing_is_due_when_nothing_waits(bus: Bus) -> None:
    assert bus.broker.next_due() is None
    bus.send(message("a"))
    assert bus.broker.next_due() is None
    bus.complete(bus.receive()[0])
    assert bus.broker.next_due() is None


def test_a_take_stops_at_the_size_it_was_given(bus: Bus) -> None:
    bus.send(*(message("x" * 1_000) for _ in range(5)))
    with bus.turn() as broker:
        taken = broker.receiving.take(bus.queue("sub"), 5, 2_000, delete=False)
    assert len(taken) == 2
