"""Drives the real Python worker library in this process, as Azure's host drives it over gRPC.

The library keeps its state in module globals: one app per process. It runs on an event loop of
its own in a thread, so that a function that blocks its loop blocks the other `async` functions,
as in Azure, but not the host's triggers, locks and timers.
"""

import asyncio
import importlib
import logging
import os
import sys
import threading
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import azure_functions_runtime as runtime
from azure_functions_runtime import invocation_id_cv

from local.host import protocol
from local.host.protocol import InvocationRequest, ParameterBinding, RpcFunctionMetadata, TypedData

THREAD_COUNT = "PYTHON_THREADPOOL_THREAD_COUNT"
HOST_VERSION = "4.1037.0.0"
"""The host whose behaviour this one repeats."""

logger = logging.getLogger(__name__)


class IndexingFailed(Exception):
    """The app could not be read: the host runs, with no function at all."""


class CallFailed(Exception):
    """A call raised; str() is the worker's message `TypeName: text`."""

    def __init__(self, message: str, stack: str) -> None:
        super().__init__(message)
        self.stack = stack


class Worker:
    """The worker library with one app. Make it on the host's event loop.

    `ended` has the exit code once a function has left the process (`sys.exit`): as in Azure every
    call in progress fails then. There is no second worker here, so the host is to end.
    """

    def __init__(self) -> None:
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="worker", daemon=True).start()

    async def index(self, app: Path) -> list[RpcFunctionMetadata]:
        """Import the app and list its functions; raises IndexingFailed with the worker's reason."""
        os.environ.setdefault(THREAD_COUNT, "1000")
        sys.path.insert(0, str(app))
        importlib.invalidate_caches()
        return await self._run(self._index(app))

    async def load(self, function_id: str) -> None:
        """Announce one function, in load order, before the first call."""
        request = SimpleNamespace(function_id=function_id)
        await self._run(runtime.function_load_request(_message(function_load_request=request)))

    async def call(
        self,
        invocation_id: str,
        function_id: str,
        inputs: Sequence[ParameterBinding],
        metadata: Mapping[str, TypedData],
    ) -> TypedData | None:
        """Run one function and give back what it returned.

        Raises CallFailed when it raised, or when the worker has ended meanwhile.
        """
        request = InvocationRequest(invocation_id, function_id, list(inputs), metadata)
        return await self._run(self._call(request))

    async def _run[T](self, work: Coroutine[Any, Any, T]) -> T:
        running = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

        def give_up(_: object) -> None:
            running.cancel()

        self.ended.add_done_callback(give_up)
        try:
            return await running
        except asyncio.CancelledError:
            if self.ended.done():
                raise CallFailed(_exit_text(self.ended.result()), "") from None
            raise
        finally:
            self.ended.remove_done_callback(give_up)

    def _end(self, code: int) -> None:
        if not self.ended.done():
            self.ended.set_result(code)

    async def _index(self, app: Path) -> list[RpcFunctionMetadata]:
        init = SimpleNamespace(
            host_version=HOST_VERSION,
            capabilities={"MultiStream": "10"},
            function_app_directory=str(app),
        )
        answer = await runtime.worker_init_request(_message(worker_init_request=init))
        if answer.result.exception is not None:
            raise IndexingFailed(answer.result.exception.stack_trace.rstrip())
        found = await runtime.functions_metadata_request(_message())
        if found.function_metadata_results is None:
            raise IndexingFailed(f"There is no function_app.py in {app}, or it has no function.")
        runtime.start_threadpool_executor()
        return list(found.function_metadata_results)

    async def _call(self, request: InvocationRequest) -> TypedData | None:
        # The library sets this for the threads of plain functions only; the log wants it for all.
        invocation_id_cv.set(request.invocation_id)
        try:
            answer = await runtime.invocation_request(_message(invocation_request=request))
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
            logger.critical("A function ended the process with %r.", exit_)
            self.ended.get_loop().call_soon_threadsafe(self._end, code)
            raise CallFailed(_exit_text(code), "") from None
        failure = answer.result.exception
        if failure is not None:
            raise CallFailed(failure.message, failure.stack_trace)
        value: TypedData | None = answer.return_value
        return value


def _exit_text(code: int) -> str:
    return f"{sys.executable} exited with code {code} (0x{code:x})"


def current_invocation() -> str | None:
    """The id of the call that this thread or task works for."""
    value: str | None = invocation_id_cv.get()
    return value


def _message(**request: object) -> SimpleNamespace:
    return SimpleNamespace(
        request=SimpleNamespace(**request),
        properties={"host": "127.0.0.1", "protos": protocol},
    )
