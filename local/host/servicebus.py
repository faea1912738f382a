"""Service Bus topic triggers, on the unmodified `azure.servicebus.aio` client.

One task owns a subscription's receiver: it alone receives, renews locks and settles, in turn. The
client library reads and writes a connection under one lock, and a read holds it for as long as
nothing arrives, so tasks that share a receiver wait for each other; one owner never does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver
from azure.servicebus.exceptions import (
    MessageAlreadySettled,
    MessageLockLostError,
    MessageNotFoundError,
)

from local.host.config import ServiceBusOptions
from local.host.functions import Function
from local.host.invoker import Invoker
from local.host.metadata import body_bytes, body_data, trigger_metadata
from local.host.worker import CallFailed

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 2.0
"""How long the listener waits between attempts to reach a broker that is down."""
IDLE_WAIT_SECONDS = 30.0
BUSY_WAIT_SECONDS = 0.05
TRY_SECONDS = 20.0
"""How long a receive may wait: briefly while calls run, because ended calls are settled between.
An attempt to open a connection that gets no answer ends after TRY_SECONDS."""

LOST = (MessageLockLostError, MessageNotFoundError, MessageAlreadySettled)
"""The broker has given the message away: it is, or will be, delivered again."""

logger = logging.getLogger(__name__)

type Call = Callable[[ServiceBusReceivedMessage], Awaitable[bool]]
"""Runs the function for a message; True when it succeeded."""


@dataclass
class Held:
    """A message under lock, and the call that works on it."""

    message: ServiceBusReceivedMessage
    call: asyncio.Task[bool]
    renew_at: datetime
    renew_until: datetime


class TopicListener:
    """Receives one subscription for one function, a limited number of messages at once."""

    def __init__(
        self,
        function: Function,
        connection_string: str,
        options: ServiceBusOptions,
        call: Call,
    ) -> None:
        """Raises ValueError when the connection string can't be read."""
        ServiceBusClient.from_connection_string(connection_string)
        self._name = function.name
        self._connection_string = connection_string
        self._topic = function.trigger.text("topicName")
        self._subscription = function.trigger.text("subscriptionName")
        self._options = options
        self._call = call
        self._held: list[Held] = []
        self._down = False
        self._pause = FIRST_PAUSE_SECONDS

    async def run(self) -> None:
        """Receive until cancelled, through any number of broker restarts.

        On cancellation the calls in progress are given up and their messages abandoned.
        """
        while True:
            try:
                await self._connected()
            except Exception as error:  # the client raises its own, OSError, ValueError and more
                if _is_cancelled():
                    raise asyncio.CancelledError from error
                self._note_down(error)
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)

    async def _connected(self) -> None:
        client = ServiceBusClient.from_connection_string(
            self._connection_string,
            retry_total=0,
            try_timeout=TRY_SECONDS,
        )
        receiver = client.get_subscription_receiver(
            self._topic,
            self._subscription,
            prefetch_count=self._options.prefetch_count,
            socket_timeout=BUSY_WAIT_SECONDS,
        )
        async with client, receiver:
            self._note_up()
            try:
                while True:
                    await self._turn(receiver)
            except asyncio.CancelledError:
                await self._give_up(receiver)
                raise

    async def _turn(self, receiver: ServiceBusReceiver) -> None:
        for held in list(self._held):
            if held.call.done():
                await self._settle(receiver, held)
            elif held.renew_at <= datetime.now(UTC) < held.renew_until:
                await self._renew(receiver, held)
        if len(self._held) < self._options.max_concurrent_calls:
            await self._receive(receiver)
        else:
            calls = [held.call for held in self._held]
            await asyncio.wait(calls, timeout=1, return_when=asyncio.FIRST_COMPLETED)

    async def _receive(self, receiver: ServiceBusReceiver) -> None:
        # One message a receive: asked for more, the client waits for them before it returns one.
        wait = BUSY_WAIT_SECONDS if self._held else IDLE_WAIT_SECONDS
        for message in await receiver.receive_messages(max_message_count=1, max_wait_time=wait):
            now = datetime.now(UTC)
            self._held.append(
                Held(
                    message=message,
                    call=asyncio.ensure_future(self._call(message)),
                    renew_at=_half_way(message, now),
                    renew_until=now + self._options.max_auto_lock_renewal,
                )
            )

    async def _renew(self, receiver: ServiceBusReceiver, held: Held) -> None:
        try:
            await receiver.renew_message_lock(held.message)
            held.renew_at = _half_way(held.message, datetime.now(UTC))
        except LOST as error:
            held.renew_until = datetime.now(UTC)
            self._warn("The lock of message %s was lost: %s", held.message.message_id, error)

    async def _settle(self, receiver: ServiceBusReceiver, held: Held) -> None:
        """Complete after success, else abandon; a message whose connection is gone keeps waiting.

        After a reconnection the client settles by lock token.
        """
        succeeded = not held.call.cancelled() and held.call.result()
        try:
            if succeeded:
                await receiver.complete_message(held.message)
            else:
                await receiver.abandon_message(held.message)
        except LOST as error:
            self._warn("Message %s could not be settled: %s", held.message.message_id, error)
        self._held.remove(held)

    async def _give_up(self, receiver: ServiceBusReceiver) -> None:
        for held in self._held:
            held.call.cancel()
        if self._held:
            await asyncio.wait([held.call for held in self._held])
        for held in list(self._held):
            await self._settle(receiver, held)

    def _note_down(self, error: Exception) -> None:
        if not self._down:
            self._warn("Service Bus can't be received from, trying until it can: %r", error)
        self._down = True

    def _note_up(self) -> None:
        if self._down:
            logger.info("The listener for 'Functions.%s' is connected again.", self._name)
        self._down = False
        self._pause = FIRST_PAUSE_SECONDS

    def _warn(self, text: str, *values: object) -> None:
        logger.warning(f"The listener for 'Functions.%s': {text}", self._name, *values)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _half_way(message: ServiceBusReceivedMessage, now: datetime) -> datetime:
    """When to renew: in the middle of what is left of the lock."""
    locked_until = message.locked_until_utc or now
    return now + (locked_until - now) / 2


def make_call(function: Function, invoker: Invoker) -> Call:
    """The call that runs the function with a message, as its binding wants it."""
    binary = str(function.trigger.settings.get("dataType", "")).upper() == "BINARY"

    async def call(message: ServiceBusReceivedMessage) -> bool:
        try:
            data = body_data(body_bytes(message), binary)
            inputs = {function.trigger.name: data}
            metadata = trigger_metadata(message, data)
            reason = f"Message {message.message_id}, delivery {metadata['DeliveryCount'].json}"
            await invoker.call(function, inputs, metadata, reason)
        except CallFailed:
            return False
        except Exception as error:  # whatever can't be converted must not stop the listener
            logger.error("'Functions.%s' is not called: %s", function.name, error)
            return False
        return True

    return call
