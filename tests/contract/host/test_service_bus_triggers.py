"""Service Bus triggers: a real host between the local Service Bus and Microsoft's client."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageProperties

from tests.contract.host.brokers import LOCK_SECONDS, Broker, running_broker
from tests.contract.host.hosts import APPS, DEADLINE_SECONDS, RunningHost, running_host
from tests.contract.waiting import wait_until


@dataclass
class Bench:
    """A broker, a host, and what the functions wrote down."""

    broker: Broker
    host: RunningHost
    calls: Path

    def noted(self, what: str, message_id: str) -> list[dict[str, Any]]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        calls = [json.loads(line) for line in lines]
        return [call for call in calls if (call["what"], call["id"]) == (what, message_id)]

    def wait_for(self, what: str, message_id: str, count: int = 1) -> list[dict[str, Any]]:
        wait_until(lambda: len(self.noted(what, message_id)) >= count, DEADLINE_SECONDS)
        return self.noted(what, message_id)

    def wait_until_gone(self, topic: str, subscription: str) -> None:
        wait_until(lambda: not self.broker.left(topic, subscription), DEADLINE_SECONDS)


def settings(broker: Broker, calls: Path) -> dict[str, str]:
    return {"SB": broker.connection_string, "TOPIC": "jobs", "CALLS": str(calls)}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("messages")
    calls = folder / "calls"
    with (
        running_broker(folder / "broker") as broker,
        running_host(APPS / "messages", folder / "host", settings(broker, calls)) as host,
    ):
        yield Bench(broker, host, calls)


def message(message_id: str, order: str = "", body: bytes = b"{}") -> ServiceBusMessage:
    return ServiceBusMessage(body, message_id=message_id, subject=order or None)


def test_a_message_is_completed_when_its_function_succeeds(bench: Bench) -> None:
    # Given a message with every property that the contract uses
    sent = ServiceBusMessage(
        b"\x00\xff\x01bytes",
        message_id="ok",
        content_type="application/json",
        correlation_id="corr",
        application_properties={"schemaVersion": "1.0", "retryAttempt": 2},
    )

    # When it is sent
    bench.broker.send("jobs", sent)

    # Then the function sees exactly that, once, and the message is gone
    (seen,) = bench.wait_for("begin", "ok")
    assert seen["body"] == list(b"\x00\xff\x01bytes")
    assert seen["delivery"] == 1
    assert seen["content_type"] == "application/json"
    assert seen["correlation_id"] == "corr"
    assert seen["properties"] == {"schemaVersion": "1.0", "retryAttempt": 2}
    assert seen["enqueued"].endswith("+00:00")
    assert seen["metadata"] == [
        "ApplicationProperties",
        "ContentType",
        "CorrelationId",
        "DeliveryCount",
        "EnqueuedTime",
        "EnqueuedTimeUtc",
        "ExpiresAt",
        "ExpiresAtUtc",
        "LockToken",
        "MessageId",
        "SequenceNumber",
        "UserProperties",
    ]
    bench.wait_until_gone("jobs", "work")
    assert bench.broker.dead("jobs", "work") == []


def test_the_default_binding_damages_bytes_that_are_no_utf8(bench: Bench) -> None:
    bench.broker.send("texts", message("text", body=b"\x00\xff\x01bytes"))
    (seen,) = bench.wait_for("text", "text")
    assert bytes(seen["body"]).decode() == "\0\ufffd\x01bytes"


def test_a_failed_call_is_delivered_again_at_once_with_a_higher_count(bench: Bench) -> None:
    # Given a message whose first two deliveries fail
    bench.broker.send("jobs", message("twice", "fail 2"))

    # Then it is delivered three times without a pause, and completed
    deliveries = bench.wait_for("begin", "twice", 3)
    assert [call["delivery"] for call in deliveries] == [1, 2, 3]
    assert deliveries[2]["at"] - deliveries[0]["at"] < 1
    bench.wait_for("end", "twice")
    bench.wait_until_gone("jobs", "work")
    assert "twice" not in bench.broker.dead("jobs", "work")


def test_a_message_that_always_fails_ends_in_the_dead_letter_queue(bench: Bench) -> None:
    bench.broker.send("jobs", message("never", "fail 99"))
    wait_until(lambda: bench.broker.dead("jobs", "work") == ["never"])
    assert [call["delivery"] for call in bench.noted("begin", "never")] == [1, 2, 3]
    assert bench.noted("end", "never") == []


def test_a_body_that_can_not_be_read_is_not_given_to_the_function(bench: Bench) -> None:
    odd = AmqpAnnotatedMessage(
        value_body={"a": 1}, properties=AmqpMessageProperties(message_id="odd")
    )
    bench.broker.send("jobs", odd)
    wait_until(lambda: "odd" in bench.broker.dead("jobs", "work"))
    assert bench.noted("begin", "odd") == []
    assert "the body of message odd is no data section" in bench.host.logged()


def test_calls_that_outlast_their_locks_stay_the_only_ones(bench: Bench) -> None:
    # Given as many calls as may run at once, each longer than a lock
    names = ["slow1", "slow2", "slow3"]
    order = f"wait {1.5 * LOCK_SECONDS}"
    bench.broker.send("jobs", *[message(name, order) for name in names])

    # When they have ended
    for name in names:
        bench.wait_for("end", name)

    # Then there were no others, because the locks were renewed
    bench.wait_until_gone("jobs", "work")
    assert [len(bench.noted("begin", name)) for name in names] == [1, 1, 1]


def test_as_many_messages_as_configured_are_worked_on_at_once(bench: Bench) -> None:
    # Given more messages than maxConcurrentCalls, one of them slow
    names = [f"c{number}" for number in range(7)]
    orders = {name: "wait 1.5" if name == "c0" else "wait 0.2" for name in names}
    bench.broker.send("jobs", *[message(name, orders[name]) for name in names])

    # When all are done
    for name in names:
        bench.wait_for("end", name)

    # Then never more than three ran at once, three did, and the slow one held nobody up
    spans = {n: (bench.noted("begin", n)[0]["at"], bench.noted("end", n)[0]["at"]) for n in names}
    at_once = [
        sum(begin <= start < end for begin, end in spans.values()) for start, _ in spans.values()
    ]
    assert max(at_once) == 3
    assert max(end for name, (_, end) in spans.items() if name != "c0") < spans["c0"][1]


def test_the_listener_comes_back_with_the_broker(bench: Bench) -> None:
    # Given a broker that was killed while a call was running
    bench.broker.send("jobs", message("during", "wait 1"))
    bench.wait_for("begin", "during")
    bench.broker.kill()
    bench.host.wait_for_log("Service Bus can't be received from")

    # When it is back
    bench.broker.start()
    back = time.time()
    bench.broker.send("jobs", message("after"))

    # Then messages arrive within seconds, and the one in hand is settled
    (seen,) = bench.wait_for("begin", "after")
    assert seen["at"] - back < 5
    bench.wait_until_gone("jobs", "work")


def test_a_host_that_starts_before_the_broker_waits_for_it(tmp_path: Path) -> None:
    # Given a host whose broker is down
    broker = Broker(tmp_path)
    calls = tmp_path / "calls"
    with running_host(APPS / "messages", tmp_path / "h", settings(broker, calls)) as host:
        host.wait_for_log("Service Bus can't be received from")

        # When the broker starts
        broker.start()
        try:
            broker.send("jobs", message("first"))

            # Then its first message arrives
            Bench(broker, host, calls).wait_for("end", "first")
        finally:
            broker.kill()


def test_a_host_that_stops_gives_its_messages_back(tmp_path: Path) -> None:
    # Given a message in hand, under a lock of minutes
    calls = tmp_path / "calls"
    with running_broker(tmp_path / "broker") as broker:
        with running_host(APPS / "messages", tmp_path / "h", settings(broker, calls)) as host:
            bench = Bench(broker, host, calls)
            broker.send("texts", message("given back", "wait 60"))
            bench.wait_for("text", "given back")

            # When the host is told to end
            host.process.terminate()
            assert host.process.wait(timeout=5) == 0

        # Then another one gets it without waiting for that lock
        with running_host(APPS / "messages", tmp_path / "h", settings(broker, calls)):
            _, again = bench.wait_for("text", "given back", 2)
        assert again["delivery"] == 2


def test_without_lock_renewal_a_slow_call_runs_twice_in_parallel(tmp_path: Path) -> None:
    # Given a host that renews no locks
    calls = tmp_path / "calls"
    off = "AzureFunctionsJobHost__extensions__serviceBus__maxAutoLockRenewalDuration"
    with running_broker(tmp_path / "broker") as broker:
        environment = {**settings(broker, calls), off: "00:00:00"}
        with running_host(APPS / "messages", tmp_path / "h", environment) as host:
            bench = Bench(broker, host, calls)

            # When a call outlasts its lock
            broker.send("jobs", message("twice", f"wait {LOCK_SECONDS + 0.5}"))
            _, second = bench.wait_for("begin", "twice", 2)

            # Then another one begins before it has ended, and its end changes nothing
            (first_end, *_) = bench.wait_for("end", "twice")
            assert second["delivery"] == 2
            assert second["at"] < first_end["at"]
            host.wait_for_log("Message twice could not be settled")
