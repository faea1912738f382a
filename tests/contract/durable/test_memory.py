"""What finished instances leave behind: rows in the store, and nothing in memory."""

import asyncio
import tracemalloc
from typing import Any

import azure.durable_functions as df

from local.durable.engine import DurableEngine
from tests.contract.durable.conftest import MakeHub
from tests.contract.durable.hub import Hub
from tests.until import until

OURS = tracemalloc.Filter(inclusive=True, filename_pattern="*/local/durable/*")
INSTANCES = 40
PAYLOAD_BYTES = 5000
ALLOWED_BYTES = 50_000
"""A quarter of the payloads; Python itself keeps some small objects for later."""


def echo(value: Any) -> Any:
    return value


def ask_and_wait(context: df.DurableOrchestrationContext) -> Any:
    answer = yield context.call_activity("echo", context.get_input())
    yield context.create_timer(context.current_utc_datetime)
    return answer


async def run_many(hub: Hub) -> None:
    payload = "x" * PAYLOAD_BYTES
    await asyncio.gather(*[hub.run("ask_and_wait", payload) for _ in range(INSTANCES)])
    hub.functions.documents.clear()
    hub.functions.activity_calls.clear()


def bytes_of_ours() -> int:
    snapshot = tracemalloc.take_snapshot().filter_traces([OURS])
    return sum(trace.size for trace in snapshot.traces)


def collections_of(engine: DurableEngine) -> dict[str, int]:
    """How much is in each dictionary, list and set of the engine and its parts."""
    parts = [engine, *[part for part in vars(engine).values() if hasattr(part, "__dict__")]]
    return {
        f"{type(part).__name__}.{name}": len(value)
        for part in parts
        for name, value in vars(part).items()
        if isinstance(value, (dict, list, set))
    }


async def test_finished_instances_take_no_memory(make_hub: MakeHub) -> None:
    # Given an engine that has run some instances
    hub = await make_hub(ask_and_wait, activities=[echo])
    at_first = collections_of(hub.engine)
    tracemalloc.start()
    try:
        await run_many(hub)
        before = bytes_of_ours()

        # When it has run as many more
        await run_many(hub)

        # Then it holds no more than before
        await until(lambda: collections_of(hub.engine) == at_first)
        assert bytes_of_ours() - before < ALLOWED_BYTES
        assert "DurableEngine._ready" in at_first
    finally:
        tracemalloc.stop()
