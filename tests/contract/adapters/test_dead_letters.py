"""Looking at dead letters of a real broker, and taking them."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import (
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceiver,
    ServiceBusSender,
    ServiceBusSubQueue,
)
from azure.servicebus.amqp import AmqpAnnotatedMessage

from shared.adapters.dead_letters import ServiceBusDeadLetters
from shared.adapters.service_bus import client_from_connection_string
from shared.domain.errors import TransientError
from tests.contract.adapters.broker import SUBSCRIPTION, Broker, connection_string


@pytest.fixture
def queue(broker: Broker, topic: str) -> Iterator[ServiceBusDeadLetters]:
    with closing(ServiceBusDeadLetters(broker.connect, topic, SUBSCRIPTION)) as made:
        yield made


class Bus:
    """Makes dead letters; its links stay open, for closing one takes a second."""

    def __init__(self, client: ServiceBusClient) -> None:
        self._client = client
        self._links: list[ServiceBusReceiver | ServiceBusSender] = []

    def dead_letter(
        self, topic: str, *messages: ServiceBusMessage | AmqpAnnotatedMessage
    ) -> list[int]:
        """Send the messages and dead-letter them; their sequence numbers, in order."""
        sender = self._client.get_topic_sender(topic)
        receiver = self._client.get_subscription_receiver(topic, SUBSCRIPTION)
        self._links += [sender, receiver]
        found = []
        for sent in messages:
            sender.send_messages(sent)
            [message] = receiver.receive_messages(1, max_wait_time=5)
            receiver.dead_letter_message(message, reason="broken", error_description="it says")
            found.append(message.sequence_number or 0)
        return found

    def left(self, topic: str, expected: int) -> list[int]:
        """The sequence numbers that can be received, so not even locked."""
        receiver = self._client.get_subscription_receiver(
            topic, SUBSCRIPTION, sub_queue=ServiceBusSubQueue.DEAD_LETTER
        )
        self._links.append(receiver)
        found: list[int] = []
        while batch := receiver.receive_messages(
            10, max_wait_time=5 if len(found) < expected else 1
        ):
            found += [message.sequence_number or 0 for message in batch]
        return sorted(found)

    def close(self) -> None:
        with ThreadPoolExecutor(len(self._links) or 1) as threads:
            list(threads.map(lambda link: link.close(), self._links))


@pytest.fixture(scope="module")
def bus(broker: Broker) -> Iterator[Bus]:
    with closing(Bus(broker.connect())) as made:
        yield made


@pytest.fixture
def numbers(bus: Bus, topic: str) -> list[int]:
    """The sequence numbers of five dead letters, in order."""
    return bus.dead_letter(topic, *map(message, range(5)))


def message(number: int) -> ServiceBusMessage:
    return ServiceBusMessage(
        f'{{"number": {number}}}',
        message_id=f"m{number}",
        subject="FileAccepted",
        correlation_id="c",
        application_properties={"schemaVersion": "1.0", "retryAttempt": number},
    )


def test_an_empty_queue_has_nothing_to_see_or_take(queue: ServiceBusDeadLetters) -> None:
    assert queue.peek(0, 10) == []
    with queue.take([1]) as taken:
        assert taken == []


def test_a_dead_letter_is_seen_with_all_that_is_known_and_stays(
    queue: ServiceBusDeadLetters, numbers: list[int]
) -> None:
    [first] = queue.peek(0, 1)
    assert queue.peek(0, 1) == [first]
    assert first.sequence_number == numbers[0]
    assert first.message.body == b'{"number": 0}'
    assert first.message.properties["schemaVersion"] == "1.0"
    assert first.message.properties["retryAttempt"] == 0
    assert (first.message_id, first.subject, first.correlation_id) == ("m0", "FileAccepted", "c")
    assert (first.reason, first.description) == ("broken", "it says")
    assert abs(datetime.now(UTC) - first.message.enqueued_at) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (ServiceBusMessage(b"\xff{"), b"\xff{"),
        (ServiceBusMessage(b""), b""),
        (AmqpAnnotatedMessage(value_body="{}"), b"{}"),
        (AmqpAnnotatedMessage(value_body=5), b""),
    ],
    ids=["bytes", "nothing", "text-value", "other-value"],
)
def test_a_body_is_read_whatever_it_is(
    bus: Bus,
    topic: str,
    queue: ServiceBusDeadLetters,
    sent: ServiceBusMessage,
    read: bytes,
) -> None:
    bus.dead_letter(topic, sent)
    [letter] = queue.peek(0, 10)
    assert letter.message.body == read


def test_pages_go_on_behind_a_sequence_number(
    queue: ServiceBusDeadLetters, numbers: list[int]
) -> None:
    first = queue.peek(0, 2)
    rest = queue.peek(first[-1].sequence_number, 10)
    assert [letter.sequence_number for letter in first] == numbers[:2]
    assert [letter.sequence_number for letter in rest] == numbers[2:]


def test_the_wanted_ones_are_taken_completed_or_given_back(
    bus: Bus, topic: str, queue: ServiceBusDeadLetters, numbers: list[int]
) -> None:
    with queue.take([numbers[3], numbers[1], 10**6]) as taken:
        assert [each.letter.sequence_number for each in taken] == [numbers[1], numbers[3]]
        taken[0].complete()
    assert bus.left(topic, 4) == [n for n in numbers if n != numbers[1]]


def test_what_is_not_wanted_is_free_while_the_others_are_held(
    bus: Bus, topic: str, queue: ServiceBusDeadLetters, numbers: list[int]
) -> None:
    with queue.take([numbers[2]]), queue.take(numbers) as others:
        seen = [each.letter.sequence_number for each in others]
    assert seen == [n for n in numbers if n != numbers[2]]


def test_a_block_that_fails_gives_everything_back(
    bus: Bus, topic: str, queue: ServiceBusDeadLetters, numbers: list[int]
) -> None:
    def fail() -> None:
        with queue.take(numbers):
            raise RuntimeError("amid the work")

    with pytest.raises(RuntimeError):
        fail()
    assert bus.left(topic, 5) == numbers


def test_completing_on_a_link_that_is_gone_is_transient(
    queue: ServiceBusDeadLetters, numbers: list[int]
) -> None:
    with queue.take(numbers[:1]) as [first]:
        first.receiver.close()
        with pytest.raises(TransientError, match=f"completing the dead letter {numbers[0]}"):
            first.complete()


@pytest.mark.usefixtures("sockets_left_by_the_sdk")
def test_a_broker_out_of_reach_is_transient_within_the_patience() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as ended:
        port = ended.getsockname()[1]
    queue = ServiceBusDeadLetters(
        lambda: client_from_connection_string(connection_string(port)),
        "job-status",
        SUBSCRIPTION,
        timedelta(seconds=0.5),
    )
    with pytest.raises(TransientError, match=f"the dead letters of job-status/{SUBSCRIPTION}"):
        queue.peek(0, 1)
