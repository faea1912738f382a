"""The Service Bus listener by itself, against a port where nobody listens."""

import asyncio
import logging
import time
from datetime import timedelta

import psutil
import pytest
from azure.servicebus import ServiceBusReceivedMessage

from local.host import servicebus
from local.host.config import ServiceBusOptions
from local.host.servicebus import TopicListener
from tests.contract.host.brokers import free_port
from tests.unit.local.host.fakes import make_function

OPTIONS = ServiceBusOptions(3, 0, timedelta(minutes=5))


def listener_of(connection_string: str) -> TopicListener:
    function = make_function(
        "serviceBusTrigger", "msg", "on_msg", topicName="jobs", subscriptionName="work"
    )

    async def never(_: ServiceBusReceivedMessage) -> bool:
        raise AssertionError("there is no message")

    return TopicListener(function, connection_string, OPTIONS, never)


def closed_port() -> str:
    return (
        f"Endpoint=sb://127.0.0.1:{free_port()};SharedAccessKeyName=a;SharedAccessKey=b;"
        "UseDevelopmentEmulator=true;"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [("nonsense", "malformed"), ("Endpoint=sb://x/", "SharedAccessKey .* must be present")],
)
def test_a_connection_string_that_can_not_be_read_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        listener_of(text)


async def test_a_broker_that_is_down_costs_neither_time_nor_tasks(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a listener whose broker is down, and that tries often
    monkeypatch.setattr(servicebus, "LONGEST_PAUSE_SECONDS", 0.02)
    caplog.set_level(logging.INFO, "azure.servicebus")
    listening = asyncio.create_task(listener_of(closed_port()).run())

    async def attempts(count: int) -> None:
        deadline = time.monotonic() + 10
        while caplog.text.count("Transport connect failed") < count:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    # When it has tried many times
    await attempts(5)
    tasks, files = len(asyncio.all_tasks()), psutil.Process().num_fds()
    await attempts(30)

    # Then it holds no more than before, and has warned once
    assert len(asyncio.all_tasks()) <= tasks + 1
    assert psutil.Process().num_fds() <= files + 2
    assert caplog.text.count("Service Bus can't be received from") == 1
    listening.cancel()
    await asyncio.wait([listening])
