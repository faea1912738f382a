"""Microsoft's Python client, sync and async, behind one small face.

A test that is written once holds both: the async client runs step by step on a loop of its own.
"""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import ExitStack
from typing import Any, Protocol, cast

from azure.servicebus import (
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceivedMessage,
    ServiceBusReceiveMode,
    ServiceBusSubQueue,
)
from azure.servicebus.aio import ServiceBusClient as AsyncServiceBusClient

type Sent = ServiceBusMessage
type Received = ServiceBusReceivedMessage


class Sdk(Protocol):
    """Senders and receivers of one client, with every call waiting for its end."""

    def sender(self, topic: str = "jobs") -> Any: ...

    def receiver(
        self,
        subscription: str = "sub",
        topic: str = "jobs",
        *,
        dead: bool = False,
        delete: bool = False,
        prefetch: int = 0,
    ) -> Any: ...

    def close(self) -> None: ...


class SyncSdk:
    def __init__(self, connection_string: str, retries: int = 0) -> None:
        self._stack = ExitStack()
        self._client = self._stack.enter_context(
            ServiceBusClient.from_connection_string(connection_string, **_retry(retries))
        )

    def sender(self, topic: str = "jobs") -> Any:
        return self._stack.enter_context(self._client.get_topic_sender(topic))

    def receiver(self, subscription: str = "sub", topic: str = "jobs", **options: Any) -> Any:
        return self._stack.enter_context(
            self._client.get_subscription_receiver(topic, subscription, **_options(**options))
        )

    def close(self) -> None:
        self._stack.close()


class AsyncSdk:
    def __init__(self, connection_string: str, retries: int = 0) -> None:
        self._runner = asyncio.Runner()
        self._opened: list[Any] = []
        self._client = self._open(
            AsyncServiceBusClient.from_connection_string(connection_string, **_retry(retries))
        )

    def sender(self, topic: str = "jobs") -> Any:
        return Stepped(self._runner, self._open(self._client.get_topic_sender(topic)))

    def receiver(self, subscription: str = "sub", topic: str = "jobs", **options: Any) -> Any:
        receiver = self._client.get_subscription_receiver(
            topic, subscription, **_options(**options)
        )
        return Stepped(self._runner, self._open(receiver))

    def close(self) -> None:
        for opened in reversed(self._opened):
            self._runner.run(opened.__aexit__(None, None, None))
        self._runner.close()

    def _open(self, context: Any) -> Any:
        self._opened.append(context)
        return self._runner.run(context.__aenter__())


class Stepped:
    """An async object whose methods run to their end when they are called."""

    def __init__(self, runner: asyncio.Runner, inner: Any) -> None:
        self._runner = runner
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*arguments: Any, **options: Any) -> Any:
            return self._runner.run(cast(Coroutine[Any, Any, Any], method(*arguments, **options)))

        return call


def _retry(times: int) -> dict[str, Any]:
    return {"retry_total": times, "retry_backoff_factor": 0.05}


def _options(*, dead: bool = False, delete: bool = False, prefetch: int = 0) -> dict[str, Any]:
    mode = ServiceBusReceiveMode
    return {
        "receive_mode": mode.RECEIVE_AND_DELETE if delete else mode.PEEK_LOCK,
        "prefetch_count": prefetch,
        "sub_queue": ServiceBusSubQueue.DEAD_LETTER if dead else None,
    }


def take(receiver: Any, count: int = 1, seconds: float = 5) -> list[Received]:
    """Receive exactly `count` messages, however many calls that takes."""
    got: list[Received] = []
    deadline = time.monotonic() + seconds
    while len(got) < count:
        assert time.monotonic() < deadline, f"{len(got)} of {count} messages came"
        got += receiver.receive_messages(count - len(got), max_wait_time=seconds)
    return got


def body(message: Received) -> bytes:
    return b"".join(cast(Any, message.body))


def bodies(messages: list[Received]) -> list[bytes]:
    return [body(each) for each in messages]
