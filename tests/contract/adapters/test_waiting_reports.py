"""Peeking at a subscription of a real broker."""

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.publisher import ServiceBusPublisher
from shared.adapters.service_bus import client_from_connection_string
from shared.adapters.waiting_reports import ServiceBusWaitingReports
from shared.contracts.outgoing import OutgoingMessage
from shared.domain.errors import TransientError
from tests.contract.adapters.broker import SUBSCRIPTION, Broker, connection_string


@pytest.fixture
def reports(broker: Broker, topic: str) -> Iterator[ServiceBusWaitingReports]:
    with closing(ServiceBusWaitingReports(broker.connect, topic, SUBSCRIPTION)) as made:
        yield made


@pytest.fixture
def publisher(broker: Broker) -> Iterator[ServiceBusPublisher]:
    with closing(ServiceBusPublisher(broker.connect)) as made:
        yield made


def report(topic: str, identity: str) -> OutgoingMessage:
    return OutgoingMessage(topic, identity, "JobSucceeded", "{}", "c")


def test_no_report_waits_on_an_empty_subscription(reports: ServiceBusWaitingReports) -> None:
    assert reports.oldest() is None


def test_the_oldest_report_is_seen_again_and_again_and_stays(
    broker: Broker, reports: ServiceBusWaitingReports, publisher: ServiceBusPublisher, topic: str
) -> None:
    before = datetime.now(UTC)
    publisher.publish(report(topic, "first"))
    between = datetime.now(UTC)
    publisher.publish(report(topic, "second"))

    seen = [reports.oldest() for _ in range(3)]

    margin = timedelta(milliseconds=2)
    assert seen[0] is not None
    assert before - margin <= seen[0] <= between + margin
    assert seen[0].utcoffset() == timedelta(0)
    assert seen == [seen[0]] * 3
    with (
        broker.connect() as client,
        client.get_subscription_receiver(topic, SUBSCRIPTION) as receiver,
    ):
        [first] = receiver.receive_messages(1, max_wait_time=5)
        assert (first.message_id, first.delivery_count) == ("first", 0)
        assert reports.oldest() == seen[0]  # a locked report still waits
        receiver.complete_message(first)
        after = reports.oldest()
    assert after is not None
    assert after > seen[0]


@pytest.mark.usefixtures("sockets_left_by_the_sdk")
def test_a_broker_out_of_reach_is_transient_within_the_patience() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as ended:
        port = ended.getsockname()[1]
    reports = ServiceBusWaitingReports(
        lambda: client_from_connection_string(connection_string(port)),
        "job-status",
        SUBSCRIPTION,
        timedelta(seconds=0.5),
    )
    begun = time.monotonic()
    with pytest.raises(TransientError, match=f"looking at job-status/{SUBSCRIPTION}"):
        reports.oldest()
    assert time.monotonic() - begun < 3
