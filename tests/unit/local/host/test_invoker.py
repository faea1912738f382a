"""One call of one function."""

import asyncio
import logging
from datetime import timedelta

import pytest

from local.host.functions import Binding, Function
from local.host.invoker import Invoker
from local.host.protocol import TypedData
from local.host.worker import CallFailed
from tests.unit.local.host.fakes import FakeWorker, make_function


def invoker_of(worker: object, timeout: timedelta | None = None) -> Invoker:
    return Invoker(worker, timeout, {})  # type: ignore[arg-type]  # a stand-in worker


async def test_a_durable_client_is_added_to_the_inputs() -> None:
    # Given a function with a durable client
    worker = FakeWorker(answer=TypedData(string="done"))
    invoker = invoker_of(worker)
    invoker.durable_client = "{}"
    bindings = [Binding("httpTrigger", "req", {}), Binding("durableClient", "starter", {})]

    # When it is called
    function = Function("start", "id", "function_app.py", "app", bindings)
    value = await invoker.call(function, {"req": TypedData(string="x")}, {}, "test")

    # Then the worker gets both, and its answer comes back
    assert worker.calls == [
        ("id", {"req": TypedData(string="x"), "starter": TypedData(string="{}")}, {})
    ]
    assert value == TypedData(string="done")


async def test_a_call_is_logged_around(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await invoker_of(FakeWorker()).call(make_function("timerTrigger", "t"), {}, {}, "test")
    first, last = caplog.messages
    assert first.startswith("Executing 'Functions.f' (Reason='test', Id=")
    assert last.startswith("Executed 'Functions.f' (Succeeded, Id=")
    assert last.endswith("ms)")


async def test_a_failure_is_logged_with_its_stack(caplog: pytest.LogCaptureFixture) -> None:
    worker = FakeWorker(failure=CallFailed("ValueError: boom", "Traceback: where"))
    with pytest.raises(CallFailed, match="ValueError: boom"):
        await invoker_of(worker).call(make_function("timerTrigger", "t"), {}, {}, "test")
    assert "Executed 'Functions.f' (Failed, Id=" in caplog.text
    assert "Traceback: where" in caplog.text


class StuckWorker:
    async def call(self, *_: object) -> None:
        await asyncio.Event().wait()


async def test_a_call_that_outruns_the_function_timeout_fails_by_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    invoker = invoker_of(StuckWorker(), timedelta(seconds=0.01))
    with pytest.raises(CallFailed, match=r"Timeout value of 0\.01 s was exceeded by function: f"):
        await invoker.call(make_function("timerTrigger", "t"), {}, {}, "test")
    assert "Timeout value of 0.01 s was exceeded by function: f" in caplog.text
