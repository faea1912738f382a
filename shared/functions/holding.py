"""Holding a message while a part is out of reach, so that nothing is lost or burnt through."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from shared.domain.errors import NotYetError, PermanentError, TransientError
from shared.telemetry import log_event, run_in_thread

T = TypeVar("T")
logger = logging.getLogger(__name__)

TRIGGER_THREADS = 32
"""Only a try takes a thread; a held message waits without one. The database pool covers these."""
_threads = ThreadPoolExecutor(TRIGGER_THREADS, thread_name_prefix="trigger")


@dataclass(frozen=True)
class Patience:
    """How long one delivery waits: for a part that is down, for a row on its way, and afterwards.

    `held` must leave room under the host's `functionTimeout` and `maxAutoLockRenewalDuration`;
    `not_yet` is short, since only this one message waits; `afterwards` is what follows the commit.
    """

    held: timedelta = timedelta(minutes=4)
    not_yet: timedelta = timedelta(seconds=5)
    afterwards: timedelta = timedelta(seconds=10)
    first_pause: timedelta = timedelta(milliseconds=250)
    longest_pause: timedelta = timedelta(seconds=20)


PATIENCE = Patience()


async def hold(
    use_case: Callable[[], T], delivery_count: int, patience: Patience | None = None
) -> T:
    """Run a blocking use case, again and again while it raises TransientError or NotYetError.

    Raises the last of them when patience ends, and PermanentError at once: the platform then
    delivers again, up to the subscription's count. A permanent failure is logged once, at the
    first delivery.
    """
    patience = patience or PATIENCE
    waiting = _Waiting(patience)
    while True:
        try:
            return await in_thread(use_case)
        except PermanentError as error:
            if delivery_count <= 1:
                log_event(
                    logger, "Message refused", logging.WARNING, code=error.code, reason=str(error)
                )
            raise
        except TransientError as error:
            await waiting.pause(error, patience.held)
        except NotYetError as error:
            await waiting.pause(error, patience.not_yet)


async def afterwards(step: Callable[[], Awaitable[None]], patience: Patience | None = None) -> None:
    """Do what follows a commit, trying for seconds; what cannot be done is left to reconciliation.

    The message is finished all the same: what it asked for stands in the database.
    """
    patience = patience or PATIENCE
    waiting = _Waiting(patience)
    try:
        while not await _done(step, waiting, patience):
            pass
    except Exception as error:
        log_event(logger, "Left to reconciliation", logging.WARNING, reason=str(error))


async def _done(
    step: Callable[[], Awaitable[None]], waiting: "_Waiting", patience: Patience
) -> bool:
    try:
        await step()
    except Exception as error:
        # The durable client raises bare Exceptions; whatever it is, the step is safe to repeat.
        await waiting.pause(error, patience.afterwards)
        return False
    return True


async def in_thread(use_case: Callable[[], T]) -> T:
    """Run a blocking use case in the pool of the triggers."""
    return await run_in_thread(use_case, _threads)


class _Waiting:
    """Doubling pauses since the first failure."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._pause = patience.first_pause
        self._since: float | None = None

    async def pause(self, error: Exception, bound: timedelta) -> None:
        now = time.monotonic()
        if self._since is None:
            self._since = now
            part = getattr(error, "part", None)
            log_event(logger, "Message held", logging.WARNING, part=part, reason=str(error))
        if now - self._since + self._pause.total_seconds() > bound.total_seconds():
            raise error
        await asyncio.sleep(self._pause.total_seconds())
        self._pause = min(self._pause * 2, self._patience.longest_pause)
