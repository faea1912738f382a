"""The fault switches: what each of them does to those who use the broker."""

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from proton import Message, Sender, symbol, timestamp

from tests.contract.parts import running_part
from tests.contract.servicebus.raw_client import RawClient, message, raw_client
from tests.contract.servicebus.running import connection_string
from tests.servicebus_faults import ServiceBusFaults

TOPICS = [f"topic-{number}" for number in range(20)]
_numbers = count()
ACCEPTED, MODIFIED = 0x24, 0x27


@dataclass(frozen=True)
class Broker:
    port: int
    faults: ServiceBusFaults


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker with its switches; the first topic detects duplicates."""
    folder = tmp_path_factory.mktemp("faults")
    topics = [{"Name": name, "Subscriptions": [{"Name": "sub"}]} for name in TOPICS]
    topics[0]["Properties"] = {"RequiresDuplicateDetection": True}  # type: ignore[assignment]
    config = {"UserConfig": {"Namespaces": [{"Name": "n", "Topics": topics}]}}
    (folder / "config.json").write_text(json.dumps(config))
    with socket.create_server(("127.0.0.1", 0)) as free:
        control = free.getsockname()[1]
    arguments = ("--config", folder / "config.json", "--port", 0, "--data", folder)
    with running_part("local.servicebus", *arguments, "--control", control) as part:
        yield Broker(int(part.url.rpartition(":")[2]), ServiceBusFaults(control))


@pytest.fixture
def broker(process: Broker) -> Iterator[Broker]:
    """With all switches off before and after the test."""
    yield process
    process.faults.reset()


@pytest.fixture
def faults(broker: Broker) -> ServiceBusFaults:
    return broker.faults


@pytest.fixture
def client(broker: Broker) -> Iterator[RawClient]:
    with raw_client(broker.port) as client:
        yield client


@pytest.fixture
def topic() -> str:
    """Another one for each test."""
    return TOPICS[1 + next(_numbers)]


def receive_all(port: int, topic: str) -> list[object]:
    """The bodies of what is there, in the order in which it comes."""
    with raw_client(port) as client:
        receiver = client.receiver(f"{topic}/Subscriptions/sub", settled=True)
        receiver.drain(100)
        client.until(lambda: receiver.credit == 0)
        return [each.body for each in client.arrived]


def send_unanswered(client: RawClient, link: Sender, body: object) -> None:
    """Send a message whose answer is not awaited."""
    link.delivery(f"t{time.monotonic_ns()}")
    link.stream(message(body))
    link.advance()


def send_with_the_sdk(port: int, topic: str, body: str) -> None:
    """Send as an application does, which tries again when its connection fails."""
    with (
        ServiceBusClient.from_connection_string(
            connection_string(port), retry_backoff_factor=0.01
        ) as client,
        client.get_topic_sender(topic) as sender,
    ):
        sender.send_messages(ServiceBusMessage(body, message_id=body))


def test_a_paused_broker_answers_when_it_is_resumed(
    faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    link = client.sender(topic)
    faults.pause()
    delivery = link.delivery("t")
    link.stream(message("a"))
    link.advance()
    client.idle(0.2)
    assert not delivery.settled
    faults.resume()
    client.until(lambda: delivery.settled)


def test_a_paused_broker_delivers_when_it_is_resumed(
    broker: Broker, client: RawClient, topic: str
) -> None:
    client.receiver(f"{topic}/Subscriptions/sub", credit=1)
    with raw_client(broker.port) as other:
        link = other.sender(topic)
        broker.faults.pause()
        send_unanswered(other, link, "a")
        other.idle(0.05)
        client.idle(0.2)
        assert not client.arrived
        broker.faults.resume()
        assert client.next().body == "a"


@pytest.mark.usefixtures("forgotten_sockets")
def test_a_lost_request_is_sent_again_and_arrives_once(broker: Broker, topic: str) -> None:
    broker.faults.lose_requests(1)
    send_with_the_sdk(broker.port, topic, "a")
    assert broker.faults.told()["lost_requests"] == 0
    assert receive_all(broker.port, topic) == [b"a"]


@pytest.mark.usefixtures("forgotten_sockets")
def test_a_lost_answer_makes_the_sender_send_twice(broker: Broker, topic: str) -> None:
    broker.faults.lose_answers(1)
    send_with_the_sdk(broker.port, topic, "a")
    assert broker.faults.told()["lost_answers"] == 0
    assert receive_all(broker.port, topic) == [b"a", b"a"]


@pytest.mark.usefixtures("forgotten_sockets")
def test_duplicate_detection_catches_what_a_lost_answer_doubles(broker: Broker) -> None:
    broker.faults.lose_answers(1)
    send_with_the_sdk(broker.port, TOPICS[0], "a")
    assert receive_all(broker.port, TOPICS[0]) == [b"a"]


def test_everything_that_is_said_leaves_later(
    faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    link = client.sender(topic)
    faults.delay(0.3)
    began = time.monotonic()
    for body in "abc":
        send_unanswered(client, link, body)
    client.receiver(f"{topic}/Subscriptions/sub", credit=3)
    assert [client.next().body for _ in range(3)] == ["a", "b", "c"]
    assert 0.3 <= time.monotonic() - began < 3


def test_what_is_delayed_is_not_overtaken_by_what_follows(
    faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    link = client.sender(topic)
    client.receiver(f"{topic}/Subscriptions/sub", credit=2)
    faults.delay(0.2)
    send_unanswered(client, link, "first")
    client.idle(0.05)
    faults.delay(0)
    send_unanswered(client, link, "second")
    assert [client.next().body for _ in range(2)] == ["first", "second"]


def test_a_duplicate_comes_under_the_same_id_with_its_own_lock(
    faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    link = client.sender(topic)
    for identity in "abc":
        client.send(link, message("x", id=identity))
    faults.duplicate(2)
    client.receiver(f"{topic}/Subscriptions/sub", credit=10)
    client.until(lambda: len(client.arrived) == 5)
    assert [each.message.id for each in client.arrived] == ["a", "b", "c", "a", "b"]
    for each in list(client.arrived):
        client.settle(each, ACCEPTED)
        assert each.delivery.remote_state == ACCEPTED


def test_a_share_of_all_messages_comes_twice_evenly_spread(
    broker: Broker, faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    link = client.sender(topic)
    for number in range(8):
        client.send(link, message(number))
    faults.duplicate_share(0.25)
    assert receive_all(broker.port, topic) == [*range(8), 3, 7]


def test_what_is_refused_again_and_again_does_not_multiply(
    faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    client.send(client.sender(topic), message("a"))
    faults.duplicate_share(1)
    client.receiver(f"{topic}/Subscriptions/sub", credit=100)
    for _ in range(10):
        refused = client.next()
        refused.delivery.local.failed = True
        client.settle(refused, MODIFIED)
    for _ in range(2):
        client.settle(client.next(), ACCEPTED)
    client.idle(0.1)
    assert not client.arrived


def test_the_youngest_message_comes_first(
    broker: Broker, faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    link = client.sender(topic)
    for body in "abc":
        client.send(link, message(body))
    faults.reorder()
    assert receive_all(broker.port, topic) == ["c", "b", "a"]


@pytest.mark.usefixtures("forgotten_sockets")
def test_broken_connections_end_and_others_can_be_made(
    broker: Broker, client: RawClient, topic: str
) -> None:
    client.receiver(f"{topic}/Subscriptions/sub", credit=1)
    broker.faults.break_connections()
    with pytest.raises(ConnectionError):
        client.until(lambda: False)
    send_with_the_sdk(broker.port, topic, "a")
    assert receive_all(broker.port, topic) == [b"a"]


def test_a_day_passes_at_once(faults: ServiceBusFaults, client: RawClient, topic: str) -> None:
    tomorrow = timestamp(int((time.time() + 86_400) * 1000))
    later = Message(body="later", annotations={symbol("x-opt-scheduled-enqueue-time"): tomorrow})
    client.receiver(f"{topic}/Subscriptions/sub", credit=1)
    client.send(client.sender(topic), later.encode())
    client.idle(0.05)
    assert not client.arrived
    faults.advance_clock(86_400)
    assert client.next().body == "later"


def test_locks_of_a_minute_end_within_a_second_on_a_fast_clock(
    faults: ServiceBusFaults, client: RawClient, topic: str
) -> None:
    client.send(client.sender(topic), message("a"))
    client.receiver(f"{topic}/Subscriptions/sub", credit=2)
    assert client.next().message.delivery_count == 0
    faults.speed_clock(600)
    began = time.monotonic()
    assert client.next().message.delivery_count == 1
    assert time.monotonic() - began < 2


def test_everything_is_off_at_first_and_after_a_reset(faults: ServiceBusFaults) -> None:
    off = {
        "paused": False,
        "delay_seconds": 0.0,
        "lost_requests": 0,
        "lost_answers": 0,
        "duplicates": 0,
        "duplicate_share": 0.0,
        "newest_first": False,
        "clock_speed": 1.0,
    }
    assert faults.told() == off
    faults.set(lost_requests=3, duplicates=1, clock_speed=2, newest_first=True)
    assert faults.told() != off
    faults.reset()
    assert faults.told() == off


@pytest.mark.parametrize(
    ("switches", "name"),
    [
        ({"pause": True}, "pause\n  Extra inputs"),
        ({"lost_requests": -1}, "lost_requests"),
        ({"clock_speed": 0}, "clock_speed"),
        ({"advance_seconds": -1}, "advance_seconds"),
    ],
)
def test_a_switch_that_does_not_exist_or_cannot_be_set_so_is_named(
    faults: ServiceBusFaults, switches: dict[str, object], name: str
) -> None:
    with pytest.raises(ValueError, match=name):
        faults.set(**switches)
