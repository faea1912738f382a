"""Credit: how much is delivered, to whom, and when there is no more."""

from tests.contract.servicebus.raw_client import SUB, RawClient, message, peek, raw_client
from tests.contract.servicebus.running import RunningBus


def test_no_more_is_delivered_than_there_is_credit_for(client: RawClient) -> None:
    sender = client.sender("jobs")
    for n in range(5):
        client.send(sender, message(n))
    receiver = client.receiver(SUB, credit=2)
    assert [client.next().body for _ in range(2)] == [0, 1]
    client.idle(0.1)
    assert not client.arrived
    receiver.flow(3)
    assert [client.next().body for _ in range(3)] == [2, 3, 4]


def test_a_drain_is_answered_with_what_there_is_and_no_credit(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    receiver = client.receiver(SUB)
    receiver.drain(10)
    client.until(lambda: receiver.credit == 0 and client.arrived)
    assert not receiver.draining()
    assert client.next().body == "a"


def test_a_drain_of_an_empty_queue_is_answered(client: RawClient) -> None:
    receiver = client.receiver(SUB, credit=5)
    receiver.drain(0)
    client.until(lambda: receiver.credit == 0)
    receiver.drain_mode = False
    receiver.flow(1)
    client.send(client.sender("jobs"), message("later"))
    assert client.next().body == "later"


def test_a_sender_never_runs_out_of_credit(client: RawClient) -> None:
    sender = client.sender("jobs")
    client.until(lambda: sender.credit == 1_000)
    for n in range(1_200):
        delivery = sender.delivery(str(n))
        sender.stream(message(n))
        sender.advance()
        client.until(lambda: sender.credit > 0)
        if n % 100 == 0:
            client.until(lambda delivery=delivery: delivery.settled)  # type: ignore[misc]
    receiver = client.receiver(SUB, credit=1_200, settled=True)
    client.until(lambda: len(client.arrived) == 1_200)
    assert receiver.credit == 0


def test_consumers_take_turns(bus: RunningBus) -> None:
    with raw_client(bus.port) as first, raw_client(bus.port) as second:
        first.receiver(SUB, credit=10)
        second.receiver(SUB, credit=10)
        sender = first.sender("jobs")
        for n in range(6):
            first.send(sender, message(n))
        first.until(lambda: len(first.arrived) == 3)
        second.until(lambda: len(second.arrived) == 3)
        seen = [each.body for each in (*first.arrived, *second.arrived)]
        assert sorted(seen) == list(range(6))


def test_a_slow_reader_gets_everything_and_holds_up_nobody(bus: RunningBus) -> None:
    count, size = 300, 100_000
    with raw_client(bus.port) as slow, raw_client(bus.port) as other:
        sender = other.sender("jobs")
        for n in range(count):
            other.send(sender, message(n, properties={"filling": "x" * size}))
        slow.receiver(SUB, credit=count, settled=True)
        slow.paused = True
        slow.idle(0.2)
        other.send(sender, message("quick"))
        half = peek(other, start=count // 2)
        assert half["statusCode"] == 200, "more was taken than the reader has room for"
        slow.paused = False
        slow.until(lambda: len(slow.arrived) == count, seconds=30)
        assert [each.body for each in slow.arrived] == list(range(count))
