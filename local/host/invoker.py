"""One call of one function: its id, its log lines, its time limit, and its durable client."""

import asyncio
import logging
import time
from collections.abc import Mapping
from datetime import timedelta
from uuid import uuid4

from local.host.functions import Function
from local.host.protocol import ParameterBinding, TypedData
from local.host.worker import CallFailed, Worker

logger = logging.getLogger(__name__)


class Invoker:
    """Calls functions on the worker, for every trigger alike."""

    def __init__(self, worker: Worker, timeout: timedelta | None, running: dict[str, str]) -> None:
        """`running` is kept up to date: the name of the function of each call id."""
        self._worker = worker
        self._seconds = timeout.total_seconds() if timeout else None
        self._running = running
        self.durable_client = ""
        """The text that every durable client input gets."""

    async def call(
        self,
        function: Function,
        inputs: Mapping[str, TypedData],
        metadata: Mapping[str, TypedData],
        reason: str,
    ) -> TypedData | None:
        """Run the function and give back what it returned.

        Raises CallFailed when it raised or outran `functionTimeout`. A plain function that outran
        it goes on in its thread; what it returns is dropped.
        """
        client = dict.fromkeys(function.client_inputs, TypedData(string=self.durable_client))
        parameters = [ParameterBinding(name, data) for name, data in {**inputs, **client}.items()]
        call_id = str(uuid4())
        self._running[call_id] = function.name
        logger.info("Executing 'Functions.%s' (Reason='%s', Id=%s)", function.name, reason, call_id)
        end = _End(function.name, call_id)
        try:
            async with asyncio.timeout(self._seconds):
                value = await self._worker.call(call_id, function.id, parameters, metadata)
        except CallFailed as failure:
            end.failed(failure.stack.rstrip())
            raise
        except TimeoutError:
            text = f"Timeout value of {self._seconds} s was exceeded by function: {function.name}"
            end.failed(text)
            raise CallFailed(text, "") from None
        except asyncio.CancelledError:
            end.failed("The host is stopping; the call was not waited for.")
            raise
        finally:
            del self._running[call_id]
        end.succeeded()
        return value


class _End:
    """The line that closes a call."""

    def __init__(self, name: str, call_id: str) -> None:
        self._name = name
        self._id = call_id
        self._started = time.monotonic()

    def succeeded(self) -> None:
        logger.info("Executed 'Functions.%s' (%s)", self._name, self._outcome("Succeeded"))

    def failed(self, why: str) -> None:
        outcome = self._outcome("Failed")
        logger.error("Executed 'Functions.%s' (%s)\n%s", self._name, outcome, why)

    def _outcome(self, word: str) -> str:
        milliseconds = round((time.monotonic() - self._started) * 1000)
        return f"{word}, Id={self._id}, Duration={milliseconds}ms"
