"""Connections to Service Bus that stay open, and open again after a failure."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar

from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError
from azure.servicebus import ServiceBusClient

from shared.domain.errors import TransientError

PART = "service bus"
PATIENCE = timedelta(seconds=10)
"""How long an operation is tried in all, retries included."""

ATTEMPT_SECONDS = 5.0
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 2.0
STUCK_SECONDS = 60.0
"""After which an opening that has not ended is left behind and another one begun."""


class Openable(Protocol):
    """What a sender and a receiver of the SDK have in common."""

    def __enter__(self) -> Any: ...
    def close(self) -> None: ...


LinkT = TypeVar("LinkT", bound=Openable)
ResultT = TypeVar("ResultT")

# The SDK's own retries are off: attempts would multiply, and outlast the time a caller has.
_NO_RETRIES: dict[str, Any] = {"retry_total": 0}


def client_from_connection_string(connection_string: str) -> ServiceBusClient:
    """A client that opens nothing yet. Raises ValueError, without the string, if malformed."""
    return ServiceBusClient.from_connection_string(connection_string, **_NO_RETRIES)


def client_with_identity(namespace: str, credential: TokenCredential) -> ServiceBusClient:
    """A client of `NAME.servicebus.windows.net` that opens nothing yet."""
    return ServiceBusClient(namespace, credential, **_NO_RETRIES)


class ServiceBusLink(Generic[LinkT]):
    """One sender or receiver of the SDK, used by one thread at a time.

    It is opened on first use and dropped when an operation fails, so that the next attempt
    opens another one: Service Bus detaches links that were idle for ten minutes.
    """

    def __init__(self, make: Callable[[], LinkT], patience: timedelta = PATIENCE) -> None:
        self._make = make
        self._patience = patience.total_seconds()
        self._lock = threading.Lock()
        self._opening: _Opening[LinkT] | None = None

    def run(self, purpose: str, operation: Callable[[LinkT, float], ResultT]) -> ResultT:
        """Run `operation(link, seconds)`, again after a failure, for about `patience` in all.

        Raises TransientError, which says the `purpose`; the operation may have happened then.
        """
        deadline = time.monotonic() + self._patience
        if not self._lock.acquire(timeout=self._patience):
            raise TransientError(PART, f"{purpose}: others waited for it all the time")
        try:
            return self._try(purpose, operation, deadline)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the link; the next use opens another one."""
        with self._lock:
            if self._opening:
                self._opening.abandon()
            self._opening = None

    def _try(
        self, purpose: str, operation: Callable[[LinkT, float], ResultT], deadline: float
    ) -> ResultT:
        for pause in _pauses():
            try:
                return operation(self._opened(deadline), _seconds_for_attempt(deadline))
            except (AzureError, OSError) as error:
                self._drop()
                if time.monotonic() + pause >= deadline:
                    raise TransientError(PART, f"{purpose}: {type(error).__name__}") from error
            time.sleep(pause)
        raise AssertionError("pauses never end")

    def _opened(self, deadline: float) -> LinkT:
        self._opening = self._opening or _Opening(self._make)
        return self._opening.link(_seconds_for_attempt(deadline))

    def _drop(self) -> None:
        if self._opening and self._opening.can_be_dropped:
            self._opening.abandon()
            self._opening = None


class _Opening(Generic[LinkT]):
    """A link that is being opened, or is open.

    Opening takes a thread that can be left behind: the SDK's handshake waits for a silent broker
    without any time-out, whatever it is told.
    """

    def __init__(self, make: Callable[[], LinkT]) -> None:
        self._begun = time.monotonic()
        self._future: Future[LinkT] = Future()
        threading.Thread(
            target=self._open, args=(make,), name="service-bus-opening", daemon=True
        ).start()

    def link(self, seconds: float) -> LinkT:
        """The open link. Raises TimeoutError, or what opening raised."""
        return self._future.result(seconds)

    @property
    def can_be_dropped(self) -> bool:
        """Whether it has ended or is stuck; one that still tries is waited for, not doubled."""
        return self._future.done() or time.monotonic() - self._begun > STUCK_SECONDS

    def abandon(self) -> None:
        """Close the link, at once or when it has opened."""
        self._future.add_done_callback(_close_quietly)

    def _open(self, make: Callable[[], LinkT]) -> None:
        try:
            link = make()
            link.__enter__()  # the SDK's only public way to open
            self._future.set_result(link)
        except BaseException as error:
            self._future.set_exception(error)


def _close_quietly(opened: "Future[Any]") -> None:
    # What has failed may fail again when it is closed; nothing is lost by that.
    with suppress(Exception):
        opened.result().close()


def _seconds_for_attempt(deadline: float) -> float:
    return min(ATTEMPT_SECONDS, max(deadline - time.monotonic(), 0.1))


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
