"""Publishing with Microsoft's SDK to a real broker, alive, dead, frozen and back again."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusClient

from shared.adapters.publisher import ServiceBusPublisher
from shared.adapters.service_bus import client_from_connection_string
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.errors import TransientError
from tests.contract.adapters.broker import (
    KEY,
    Broker,
    Inbox,
    connection_string,
    running_broker,
)
from tests.contract.socket_server import silent, socket_server


def message(topic: str, identity: str = "1", not_before: datetime | None = None) -> OutgoingMessage:
    return OutgoingMessage(
        topic=topic,
        message_id=f"6f1f9d0a:{identity}",
        subject="JobQueued",
        body='{"a": "ä 😀"}',
        correlation_id="6f1f9d0a",
        properties={"schemaVersion": "1.0", "willRetry": True, "retryAttempt": 2},
        not_before=not_before,
    )


def sent(broker: Broker, topic: str, count: int) -> list[str | None]:
    """The ids of the messages that a topic holds, which are `count` or more."""
    with closing(Inbox(broker.connect())) as inbox:
        return [one.message_id for one in inbox.take(topic, count)]


@pytest.fixture(scope="module")
def publisher(broker: Broker) -> Iterator[ServiceBusPublisher]:
    with closing(ServiceBusPublisher(broker.connect)) as made:
        yield made


def test_a_message_arrives_with_everything_that_consumers_rely_on(
    inbox: Inbox, publisher: ServiceBusPublisher, shared_topic: str
) -> None:
    publisher.publish(message(shared_topic, "whole"))
    [arrived] = inbox.take(shared_topic, 1)
    assert str(arrived) == '{"a": "ä 😀"}'
    assert arrived.message_id == "6f1f9d0a:whole"
    assert arrived.subject == "JobQueued"
    assert arrived.correlation_id == "6f1f9d0a"
    assert arrived.content_type == "application/json"
    assert arrived.application_properties == {
        b"schemaVersion": b"1.0",
        b"willRetry": True,
        b"retryAttempt": 2,
    }


def test_the_largest_message_that_may_be_written_arrives_whole(
    inbox: Inbox, publisher: ServiceBusPublisher, shared_topic: str
) -> None:
    body = '{"a": "' + "x" * 249_800 + '"}'
    publisher.publish(OutgoingMessage(shared_topic, "large", "JobFailed", body, "c"))
    [arrived] = inbox.take(shared_topic, 1)
    assert str(arrived) == body


def test_a_message_sent_twice_under_one_id_is_delivered_once(
    inbox: Inbox, publisher: ServiceBusPublisher, shared_topic: str
) -> None:
    for _ in range(2):
        publisher.publish(message(shared_topic, "twice"))
    assert len(inbox.take(shared_topic, 1)) == 1


def test_a_message_for_later_waits_for_its_time(
    inbox: Inbox, publisher: ServiceBusPublisher, shared_topic: str
) -> None:
    not_before = datetime.now(UTC) + timedelta(seconds=1)
    publisher.publish(message(shared_topic, "later", not_before=not_before))
    [arrived] = inbox.take(shared_topic, 1)
    assert datetime.now(UTC) >= not_before
    assert arrived.scheduled_enqueue_time_utc is not None
    assert abs(arrived.scheduled_enqueue_time_utc - not_before) < timedelta(milliseconds=2)


def test_messages_of_many_threads_all_arrive(
    inbox: Inbox, publisher: ServiceBusPublisher, shared_topic: str
) -> None:
    messages = [message(shared_topic, f"thread-{number}") for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(publisher.publish, messages))
    arrived = {str(one.message_id) for one in inbox.take(shared_topic, 200)}
    assert arrived == {one.message_id for one in messages}


def test_messages_of_one_thread_are_accepted_in_order(
    inbox: Inbox, publisher: ServiceBusPublisher, shared_topic: str
) -> None:
    for number in range(20):
        publisher.publish(message(shared_topic, f"turn-{number}"))
    arrived = [one.message_id for one in inbox.take(shared_topic, 20)]
    assert arrived == [f"6f1f9d0a:turn-{number}" for number in range(20)]


def test_a_topic_that_does_not_exist_is_transient_and_named(broker: Broker) -> None:
    with (
        closing(ServiceBusPublisher(broker.connect, timedelta(seconds=0.7))) as publisher,
        pytest.raises(TransientError, match="sending JobQueued to no-such-topic"),
    ):
        publisher.publish(message("no-such-topic"))


@pytest.mark.usefixtures("sockets_left_by_the_sdk")
def test_publishing_goes_on_after_the_broker_was_killed_and_started_again(tmp_path: Path) -> None:
    with running_broker(tmp_path, ["topic"]) as first:
        publisher = ServiceBusPublisher(lambda: at_port(first.port))
        publisher.publish(message("topic", "before"))
    with running_broker(tmp_path, ["topic"], first.port) as second, closing(publisher):
        publisher.publish(message("topic", "after"))
        arrived = sent(second, "topic", 2)
    assert arrived == ["6f1f9d0a:before", "6f1f9d0a:after"]


@pytest.mark.usefixtures("sockets_left_by_the_sdk")
def test_a_message_is_sent_when_the_broker_comes_back_within_the_patience(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as reserved:
        port: int = reserved.getsockname()[1]
    with closing(ServiceBusPublisher(lambda: at_port(port))) as publisher:
        publishing = threading.Thread(target=publisher.publish, args=(message("topic"),))
        publishing.start()
        with running_broker(tmp_path, ["topic"], port) as broker:
            assert sent(broker, "topic", 1) == ["6f1f9d0a:1"]
        publishing.join()


@pytest.mark.usefixtures("sockets_left_by_the_sdk")
def test_a_dead_broker_is_transient_within_the_patience_and_the_key_is_not_told() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as ended:
        port = ended.getsockname()[1]
    caught = failure_of(port)
    assert KEY not in str(caught)
    assert KEY not in repr(caught.__cause__)


@pytest.mark.usefixtures("sockets_left_by_the_sdk")
def test_a_broker_that_never_answers_is_transient_within_the_patience() -> None:
    with socket_server(silent) as server:
        failure_of(server.port)


@pytest.mark.usefixtures("sockets_left_by_the_sdk")
def test_a_frozen_broker_is_transient_within_the_patience_and_thaws(tmp_path: Path) -> None:
    with (
        running_broker(tmp_path, ["topic"]) as broker,
        closing(ServiceBusPublisher(broker.connect, timedelta(seconds=1))) as publisher,
    ):
        publisher.publish(message("topic", "before"))
        with frozen(broker.part.process.pid):
            begun = time.monotonic()
            with pytest.raises(TransientError):
                publisher.publish(message("topic", "meanwhile"))
            assert time.monotonic() - begun < 3
        publish_patiently(publisher, message("topic", "after"))
        arrived = sent(broker, "topic", 2)
    assert {"6f1f9d0a:before", "6f1f9d0a:after"} <= set(arrived)


def at_port(port: int) -> ServiceBusClient:
    return client_from_connection_string(connection_string(port))


def failure_of(port: int) -> TransientError:
    publisher = ServiceBusPublisher(lambda: at_port(port), timedelta(seconds=0.5))
    begun = time.monotonic()
    with pytest.raises(TransientError) as caught:
        publisher.publish(message("topic"))
    assert time.monotonic() - begun < 3
    return caught.value


def publish_patiently(publisher: ServiceBusPublisher, one: OutgoingMessage) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            return publisher.publish(one)
        except TransientError:
            continue
    raise AssertionError("the broker did not come back")


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
