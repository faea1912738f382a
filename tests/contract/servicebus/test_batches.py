"""Batches and large messages, as Microsoft's clients send them."""

from contextlib import suppress
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch
from azure.servicebus.exceptions import MessageSizeExceededError

from tests.contract.servicebus.sdk import Sdk, bodies, body, take


def test_a_batch_arrives_as_its_messages_in_order(sdk: Sdk) -> None:
    sender = sdk.sender()
    batch: ServiceBusMessageBatch = sender.create_message_batch()
    for n in range(300):
        batch.add_message(ServiceBusMessage(b"%d" % n, application_properties={"n": n}))
    sender.send_messages(batch)
    sender.send_messages([ServiceBusMessage("one alone")])
    got = take(sdk.receiver(delete=True, prefetch=50), 301)
    assert bodies(got) == [*(b"%d" % n for n in range(300)), b"one alone"]
    assert [each.application_properties[b"n"] for each in got[:300]] == list(range(300))  # type: ignore[index]


def test_a_batch_that_is_full_to_its_limit_arrives_whole(sdk: Sdk) -> None:
    sender = sdk.sender()
    batch: ServiceBusMessageBatch = sender.create_message_batch()
    assert batch.max_size_in_bytes == 262_144
    count = 0
    with suppress(MessageSizeExceededError):
        while True:
            batch.add_message(ServiceBusMessage("x", application_properties={"t": "t" * 2_000}))
            count += 1
    assert 259_000 < batch.size_in_bytes <= 262_144
    sender.send_messages(batch)
    got = take(sdk.receiver(delete=True), count)
    assert {dict(each.application_properties or {})[b"t"] for each in got} == {b"t" * 2_000}


def test_messages_up_to_the_largest_size_arrive(sdk: Sdk) -> None:
    sender = sdk.sender()
    for _ in range(3):
        sender.send_messages(ServiceBusMessage(b"x" * 100_000))
    sender.send_messages(ServiceBusMessage(b"y" * 261_000))
    got = take(sdk.receiver(delete=True, prefetch=4), 4)
    assert [len(body(each)) for each in got] == [100_000] * 3 + [261_000]


@pytest.mark.parametrize(
    ("size", "properties"),
    [(300_000, {}), (255_000, {"trace": "t" * 10_000})],
    ids=["body", "body and properties"],
)
def test_a_message_that_is_too_large_is_refused_with_its_size(
    sdk: Sdk, size: int, properties: dict[str | bytes, Any]
) -> None:
    message = ServiceBusMessage(b"x" * size, application_properties=properties)
    with pytest.raises(MessageSizeExceededError, match="262144 are allowed"):
        sdk.sender().send_messages(message)
    assert sdk.receiver().peek_messages(1) == []
