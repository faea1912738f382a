"""Many receivers on one subscription, and receivers that lose their connection or their life."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, contextmanager
from typing import Any

import pytest
from azure.servicebus import ServiceBusClient
from azure.servicebus.aio import ServiceBusClient as AsyncServiceBusClient

from tests.contract.servicebus.conftest import Connect
from tests.contract.servicebus.raw_client import SUB, raw_client, send
from tests.contract.servicebus.running import RunningBus
from tests.contract.servicebus.sdk import Sdk, body, take

RECEIVERS = 50
MESSAGES = 500


def test_fifty_receivers_of_the_sync_client_share_all_messages(bus: RunningBus) -> None:
    seen: Counter[bytes] = Counter()

    def work(receiver: Any) -> int:
        handled = 0
        while seen.total() < MESSAGES:
            for message in receiver.receive_messages(5, max_wait_time=0.2):
                receiver.complete_message(message)
                seen[body(message)] += 1
                handled += 1
        return handled

    client = ServiceBusClient.from_connection_string(bus.connection_string)
    with ThreadPoolExecutor(RECEIVERS) as pool, ExitStack() as stack:
        receivers = [client.get_subscription_receiver("jobs", "sub") for _ in range(RECEIVERS)]
        list(pool.map(type(receivers[0]).__enter__, receivers))
        stack.callback(lambda: list(pool.map(type(receivers[0]).close, receivers)))
        working = [pool.submit(work, receiver) for receiver in receivers]
        send(bus.port, *(str(n) for n in range(MESSAGES)))
        shares = [each.result(60) for each in working]
    check(bus, seen, shares)


async def test_fifty_receivers_of_the_async_client_share_all_messages(bus: RunningBus) -> None:
    seen: Counter[bytes] = Counter()

    async def work(receiver: Any) -> int:
        handled = 0
        while seen.total() < MESSAGES:
            for message in await receiver.receive_messages(5, max_wait_time=0.2):
                await receiver.complete_message(message)
                seen[body(message)] += 1
                handled += 1
        return handled

    client = AsyncServiceBusClient.from_connection_string(bus.connection_string)
    async with AsyncExitStack() as stack:
        receivers = [client.get_subscription_receiver("jobs", "sub") for _ in range(RECEIVERS)]
        await asyncio.gather(*(receiver.__aenter__() for receiver in receivers))
        stack.push_async_callback(
            lambda: asyncio.gather(*(receiver.close() for receiver in receivers))
        )
        working = [asyncio.create_task(work(receiver)) for receiver in receivers]
        await asyncio.to_thread(send, bus.port, *(str(n) for n in range(MESSAGES)))
        shares = await asyncio.gather(*working)
    check(bus, seen, shares)


def check(bus: RunningBus, seen: Counter[bytes], shares: list[int]) -> None:
    """Every message was handled by one receiver, most receivers had some, nothing is left."""
    assert sorted(seen) == sorted(b"%d" % n for n in range(MESSAGES))
    assert set(seen.values()) == {1}
    assert sum(share > 0 for share in shares) > RECEIVERS // 2
    with raw_client(bus.port) as client:
        client.receiver(SUB, credit=1)
        client.idle(0.1)
        assert not client.arrived


@pytest.mark.usefixtures("forgotten_sockets")
def test_a_message_is_settled_after_its_connection_was_lost(
    bus: RunningBus, connect: Connect
) -> None:
    client = connect(bus, retries=3)
    send(bus.port, *"abcd")
    receiver = client.receiver()
    completed, abandoned, dead, deferred = take(receiver, 4)
    cut(bus)
    receiver.complete_message(completed)
    receiver.abandon_message(abandoned)
    receiver.dead_letter_message(dead, reason="bad")
    receiver.defer_message(deferred)
    seen = receiver.peek_messages(10, sequence_number=1)
    assert [(body(each), each.delivery_count) for each in seen] == [(b"b", 1), (b"d", 0)]
    (dead_letter,) = client.receiver(dead=True).peek_messages(10)
    assert (body(dead_letter), dead_letter.dead_letter_reason) == (b"c", "bad")


@pytest.mark.usefixtures("forgotten_sockets")
def test_receiving_goes_on_after_the_connection_was_lost(bus: RunningBus, connect: Connect) -> None:
    send(bus.port, "held", "next")
    receiver = connect(bus, retries=3).receiver()
    (held,) = take(receiver)
    cut(bus)
    (following,) = take(receiver)
    assert body(following) == b"next"
    receiver.complete_message(following)
    bus.pass_time(60)
    (again,) = take(receiver)
    assert (body(again), again.delivery_count) == (b"held", 1)
    assert again.lock_token != held.lock_token


def test_what_a_killed_client_held_comes_back_after_its_lock(sdk: Sdk, bus: RunningBus) -> None:
    send(bus.port, "held", "free")
    receiver = sdk.receiver()
    with holding_client(bus):
        (free,) = take(receiver)
        assert body(free) == b"free"
    receiver.complete_message(free)
    assert receiver.receive_messages(1, max_wait_time=0.2) == []
    bus.pass_time(60)
    (again,) = take(receiver)
    assert (body(again), again.delivery_count) == (b"held", 1)


def cut(bus: RunningBus) -> None:
    """End all connections without a word."""

    def abort() -> None:
        for connection in list(bus.server.connections):
            connection.abort()

    bus.run(abort)


HOLD_ONE = """
import sys, time
from azure.servicebus import ServiceBusClient
client = ServiceBusClient.from_connection_string(sys.argv[1])
receiver = client.get_subscription_receiver("jobs", "sub")
print(str(receiver.receive_messages(1)[0]), flush=True)
time.sleep(60)
"""


@contextmanager
def holding_client(bus: RunningBus) -> Iterator[None]:
    """A client of its own process that holds one message, killed when the block ends."""
    command = [sys.executable, "-c", HOLD_ONE, bus.connection_string]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield
        finally:
            process.kill()
