"""Publishing: what is sent, how often, and what is said when it fails."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import cast

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import (
    MessageSizeExceededError,
    OperationTimeoutError,
    ServiceBusAuthenticationError,
    ServiceBusConnectionError,
    ServiceBusError,
)

from shared.adapters import service_bus
from shared.adapters.publisher import SENDERS, ServiceBusPublisher
from shared.contracts.outgoing import MessageTooLargeError, OutgoingMessage
from shared.domain.errors import PermanentError, TransientError

CONNECTION_STRING = "Endpoint=sb://b/;SharedAccessKeyName=n;SharedAccessKey=s3cret"


class FakeBroker:
    """A client whose senders share what they sent; `failures` are raised first, one a send."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, ServiceBusMessage]] = []
        self.senders: list[FakeSender] = []
        self.failures: list[Exception] = []
        self.failures_after_accepting: list[Exception] = []
        self.opening_failures: list[Exception] = []

    def get_topic_sender(self, topic: str) -> "FakeSender":
        self.senders.append(FakeSender(self, topic))
        return self.senders[-1]

    def as_client(self) -> ServiceBusClient:
        return cast(ServiceBusClient, self)


class FakeSender:
    def __init__(self, broker: FakeBroker, topic: str) -> None:
        self.broker = broker
        self.topic = topic
        self.open = False
        self.in_use = threading.Lock()

    def __enter__(self) -> "FakeSender":
        if self.broker.opening_failures:
            raise self.broker.opening_failures.pop(0)
        self.open = True
        return self

    def send_messages(self, message: ServiceBusMessage, *, timeout: float) -> None:
        assert self.open
        assert timeout > 0
        if self.broker.failures:
            raise self.broker.failures.pop(0)
        with self.alone():
            self.broker.sent.append((self.topic, message))
        if self.broker.failures_after_accepting:
            raise self.broker.failures_after_accepting.pop(0)

    @contextmanager
    def alone(self) -> Iterator[None]:
        assert self.in_use.acquire(blocking=False), "two threads use one sender"
        time.sleep(0.001)
        yield
        self.in_use.release()

    def close(self) -> None:
        self.open = False


@pytest.fixture
def broker() -> FakeBroker:
    return FakeBroker()


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_bus, "FIRST_PAUSE_SECONDS", 0.01)


def publisher(broker: FakeBroker, seconds: float = 5) -> ServiceBusPublisher:
    return ServiceBusPublisher(broker.as_client, timedelta(seconds=seconds))


def message(topic: str = "job-status", not_before: datetime | None = None) -> OutgoingMessage:
    return OutgoingMessage(
        topic=topic,
        message_id="6f1f9d0a:Queued",
        subject="JobQueued",
        body='{"a": "ä"}',
        correlation_id="6f1f9d0a",
        properties={"schemaVersion": "1.0", "willRetry": True},
        not_before=not_before,
    )


def test_a_message_carries_everything_that_consumers_rely_on(broker: FakeBroker) -> None:
    publisher(broker).publish(message())
    [(topic, sent)] = broker.sent
    assert topic == "job-status"
    assert sent.message_id == "6f1f9d0a:Queued"
    assert sent.subject == "JobQueued"
    assert sent.correlation_id == "6f1f9d0a"
    assert sent.content_type == "application/json"
    assert sent.application_properties == {"schemaVersion": "1.0", "willRetry": True}
    assert b"".join(cast(Iterator[bytes], sent.body)) == '{"a": "ä"}'.encode()
    assert sent.scheduled_enqueue_time_utc is None


def test_what_is_sent_and_what_is_not_is_logged_with_its_id_and_how_long_it_took(
    broker: FakeBroker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    publish = publisher(broker, seconds=0.05).publish
    publish(message())
    broker.failures = [ServiceBusConnectionError() for _ in range(1000)]
    with pytest.raises(TransientError):
        publish(message())
    (sent, facts), (not_sent, more) = [line.split(" {", 1) for line in caplog.messages]
    assert (sent, not_sent) == ("Message sent", "Message not sent")
    read = json.loads("{" + facts)
    assert read.pop("durationMs") >= 0
    assert read == {"topic": "job-status", "subject": "JobQueued", "messageId": "6f1f9d0a:Queued"}
    assert "sending JobQueued to job-status" in json.loads("{" + more)["reason"]


def test_a_message_for_later_is_scheduled_in_utc(broker: FakeBroker) -> None:
    summer = datetime(2024, 7, 1, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    publisher(broker).publish(message(not_before=summer))
    assert broker.sent[0][1].scheduled_enqueue_time_utc == datetime(2024, 7, 1, 12, tzinfo=UTC)


def test_nothing_is_connected_before_the_first_message() -> None:
    ServiceBusPublisher(lambda: pytest.fail("connected too early"))


def test_one_sender_serves_all_messages_of_a_topic(broker: FakeBroker) -> None:
    publish = publisher(broker).publish
    for _ in range(3):
        publish(message("job-status"))
        publish(message("extraction-retry"))
    assert [sender.topic for sender in broker.senders] == ["job-status", "extraction-retry"]


@pytest.mark.parametrize(
    "failure",
    [
        ServiceBusConnectionError(message="the link was detached after being idle"),
        OperationTimeoutError(),
        ServiceBusError("The handler has failed"),
        ConnectionResetError(),
    ],
)
def test_a_failed_send_is_tried_again_with_another_sender(
    broker: FakeBroker, failure: Exception
) -> None:
    broker.failures = [failure]
    publisher(broker).publish(message())
    assert len(broker.sent) == 1
    assert [sender.open for sender in broker.senders] == [False, True]


def test_a_lost_answer_sends_again_under_the_same_id(broker: FakeBroker) -> None:
    broker.failures_after_accepting = [OperationTimeoutError()]
    publisher(broker).publish(message())
    assert [sent.message_id for _, sent in broker.sent] == ["6f1f9d0a:Queued"] * 2


def test_a_sender_that_cannot_be_opened_is_made_again(broker: FakeBroker) -> None:
    broker.opening_failures = [ServiceBusAuthenticationError(), ServiceBusConnectionError()]
    publisher(broker).publish(message())
    assert len(broker.sent) == 1


def test_a_broker_that_stays_away_is_transient_within_the_patience(broker: FakeBroker) -> None:
    broker.failures = [ServiceBusConnectionError() for _ in range(1000)]
    begun = time.monotonic()
    with pytest.raises(TransientError, match="sending JobQueued to job-status") as caught:
        publisher(broker, seconds=0.2).publish(message())
    assert time.monotonic() - begun < 1
    assert caught.value.part == "service bus"


def test_after_an_outage_the_next_message_is_sent(broker: FakeBroker) -> None:
    publish = publisher(broker, seconds=0.05).publish
    broker.failures = [ServiceBusConnectionError() for _ in range(1000)]
    with pytest.raises(TransientError):
        publish(message())
    broker.failures = []
    publish(message())
    assert len(broker.sent) == 1


def test_no_failure_tells_the_connection_string(broker: FakeBroker) -> None:
    broker.failures = [ServiceBusError(f"cannot use {CONNECTION_STRING}") for _ in range(1000)]
    with pytest.raises(TransientError) as caught:
        publisher(broker, seconds=0.05).publish(message())
    assert "s3cret" not in str(caught.value)


def test_a_message_that_the_broker_finds_too_large_fails_for_good(broker: FakeBroker) -> None:
    broker.failures = [MessageSizeExceededError()]
    with pytest.raises(MessageTooLargeError, match="JobQueued 6f1f9d0a:Queued is larger"):
        publisher(broker).publish(message())
    assert broker.sent == []


def test_a_message_that_breaks_a_rule_of_service_bus_fails_for_good(broker: FakeBroker) -> None:
    with pytest.raises(PermanentError, match="JobQueued: message_id cannot be longer than 128"):
        publisher(broker).publish(replace(message(), message_id="x" * 129))
    assert broker.sent == []


def test_a_malformed_connection_string_fails_at_first_use_and_is_not_told() -> None:
    def connect() -> ServiceBusClient:
        return service_bus.client_from_connection_string("s3cret without an endpoint")

    with pytest.raises(ValueError, match="blank or malformed") as caught:
        ServiceBusPublisher(connect).publish(message())
    assert "s3cret" not in str(caught.value)


def test_threads_take_turns_with_a_few_senders(broker: FakeBroker) -> None:
    publish = publisher(broker).publish
    with ThreadPoolExecutor(2 * SENDERS) as threads:
        list(threads.map(publish, [message() for _ in range(100)]))
    assert len(broker.sent) == 100
    assert len(broker.senders) <= SENDERS


def test_a_thread_whose_turn_never_comes_is_told_within_its_patience(broker: FakeBroker) -> None:
    all_stuck, release = threading.Barrier(SENDERS + 1), threading.Event()

    class StuckSender(FakeSender):
        def send_messages(self, message: ServiceBusMessage, *, timeout: float) -> None:
            all_stuck.wait(10)
            release.wait(10)

    broker.get_topic_sender = lambda topic: StuckSender(broker, topic)  # type: ignore[method-assign]
    publish = publisher(broker, seconds=0.2).publish
    with ThreadPoolExecutor(SENDERS) as threads:
        others = threads.map(publish, [message() for _ in range(SENDERS)])
        all_stuck.wait(10)
        with pytest.raises(TransientError, match="all senders were busy"):
            publish(message())
        release.set()
        list(others)


def test_an_opening_that_hangs_is_waited_for_and_not_doubled(broker: FakeBroker) -> None:
    release = threading.Event()

    class SlowSender(FakeSender):
        def __enter__(self) -> FakeSender:
            release.wait(10)
            return super().__enter__()

    def slow(topic: str) -> FakeSender:
        broker.senders.append(SlowSender(broker, topic))
        return broker.senders[-1]

    broker.get_topic_sender = slow  # type: ignore[method-assign]
    publish = publisher(broker, seconds=0.1).publish
    for _ in range(3):
        with pytest.raises(TransientError):
            publish(message())
    assert len(broker.senders) == 1
    release.set()
    publish(message())
    assert len(broker.sent) == 1


def test_an_opening_that_hangs_for_a_minute_is_left_behind_and_closed_when_it_ends(
    broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_bus, "STUCK_SECONDS", 0.0)
    release, closed = threading.Event(), threading.Event()

    class SlowSender(FakeSender):
        def __enter__(self) -> FakeSender:
            release.wait(10)
            return super().__enter__()

        def close(self) -> None:
            super().close()
            closed.set()

    usual = broker.get_topic_sender
    broker.get_topic_sender = lambda topic: SlowSender(broker, topic)  # type: ignore[method-assign]
    publish = publisher(broker, seconds=0.1).publish
    with pytest.raises(TransientError):
        publish(message())
    broker.get_topic_sender = usual  # type: ignore[method-assign]
    publish(message())
    assert len(broker.sent) == 1
    release.set()
    assert closed.wait(10)


def test_a_sender_whose_closing_fails_is_dropped_all_the_same(broker: FakeBroker) -> None:
    class BrokenSender(FakeSender):
        def close(self) -> None:
            raise RuntimeError("cannot join thread")

    broker.get_topic_sender = lambda topic: BrokenSender(broker, topic)  # type: ignore[method-assign]
    broker.failures = [ServiceBusConnectionError()]
    publisher(broker).publish(message())
    assert len(broker.sent) == 1


def test_closing_closes_every_sender_and_the_next_message_opens_another(
    broker: FakeBroker,
) -> None:
    publishing = publisher(broker)
    publishing.publish(message("job-status"))
    publishing.publish(message("extraction-retry"))
    publishing.close()
    assert not any(sender.open for sender in broker.senders)
    publishing.publish(message("job-status"))
    assert len(broker.senders) == 3
