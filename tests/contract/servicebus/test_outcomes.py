"""What a receiver says of a delivery, and what it is answered."""

from proton import Condition, Disposition, int32, symbol

from tests.contract.servicebus.raw_client import SUB, RawClient, condition_of, message, peek
from tests.contract.servicebus.running import RunningBus

DEAD = f"{SUB}/$DeadLetterQueue"


def test_each_outcome_is_answered_with_itself(client: RawClient) -> None:
    sender = client.sender("jobs")
    receiver = client.receiver(SUB, credit=4)
    for state in (
        Disposition.ACCEPTED,
        Disposition.RELEASED,
        Disposition.MODIFIED,
        Disposition.REJECTED,
    ):
        client.send(sender, message("a"))
        delivery = client.settle(client.next(), state)
        assert delivery.remote_state == state
        assert delivery.remote.condition is None
        receiver.flow(1)
        while client.arrived:
            client.settle(client.arrived.popleft(), Disposition.ACCEPTED)


def test_modified_properties_travel_with_the_abandoned_message(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a", properties={"kept": True}))
    client.receiver(SUB, credit=2)
    arrived = client.next()
    arrived.delivery.local.failed = True
    arrived.delivery.local.annotations = {symbol("why"): "busy", symbol("tries"): int32(2)}
    client.settle(arrived, Disposition.MODIFIED)
    again = client.next().message
    assert again.delivery_count == 1
    assert again.properties == {"kept": True, "why": "busy", "tries": int32(2)}


def test_undeliverable_here_defers(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=2)
    arrived = client.next()
    arrived.delivery.local.undeliverable = True
    client.settle(arrived, Disposition.MODIFIED)
    client.idle(0.05)
    assert not client.arrived


def test_rejected_dead_letters_with_everything_it_says(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    arrived = client.next()
    arrived.delivery.local.condition = Condition(
        "com.microsoft:dead-letter",
        "said",
        {
            symbol("DeadLetterReason"): "bad",
            symbol("DeadLetterErrorDescription"): "unreadable",
            symbol("extra"): 5,
        },
    )
    client.settle(arrived, Disposition.REJECTED)
    client.receiver(DEAD, credit=1)
    assert client.next().message.properties == {
        "DeadLetterReason": "bad",
        "DeadLetterErrorDescription": "unreadable",
        "extra": 5,
    }


def test_an_outcome_that_comes_too_late_is_rejected(client: RawClient, bus: RunningBus) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    arrived = client.next()
    bus.pass_time(60)
    condition = condition_of(client.settle(arrived, Disposition.ACCEPTED))
    assert condition.name == "com.microsoft:message-lock-lost"


def test_one_refusal_says_nothing_of_the_next_outcome(client: RawClient, bus: RunningBus) -> None:
    client.send(client.sender("jobs"), message("a"))
    receiver = client.receiver(SUB, credit=1)
    late = client.next()
    bus.pass_time(60)
    condition_of(client.settle(late, Disposition.REJECTED))
    receiver.flow(1)
    delivery = client.settle(client.next(), Disposition.REJECTED)
    assert delivery.remote_state == Disposition.REJECTED
    assert delivery.remote.condition is None


def test_a_delivery_settled_without_outcome_stays_locked(
    client: RawClient, bus: RunningBus
) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=2)
    client.next().delivery.settle()
    client.idle(0.05)
    assert not client.arrived
    bus.pass_time(60)
    assert client.next().message.delivery_count == 1


def test_an_outcome_may_come_settled(client: RawClient) -> None:
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    arrived = client.next()
    arrived.delivery.update(Disposition.ACCEPTED)
    arrived.delivery.settle()
    assert peek(client)["statusCode"] == 204
