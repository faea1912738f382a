"""Shortens the pauses of Microsoft's Python clients, and changes nothing else of them.

They look every 50 ms whether a link has opened, and every second whether one has been closed: half
a second for each link, in which nothing happens.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from azure.servicebus import _servicebus_receiver, _servicebus_sender
from azure.servicebus._pyamqp import client
from azure.servicebus._pyamqp.aio import _client_async
from azure.servicebus.aio import _servicebus_receiver_async, _servicebus_sender_async

FASTER = 50


class Hasty:
    """A module whose `sleep` is shorter."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def sleep(self, seconds: float) -> Any:
        return self._module.sleep(seconds / FASTER)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@contextmanager
def hasty_clients() -> Iterator[None]:
    """Have the clients pause for a fiftieth of the time, until the block ends."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (_servicebus_sender, _servicebus_receiver, client):
            patch.setattr(module, "time", Hasty(time))
        for module in (_servicebus_sender_async, _servicebus_receiver_async, _client_async):
            patch.setattr(module, "asyncio", Hasty(asyncio))
        yield
