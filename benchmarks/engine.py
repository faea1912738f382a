"""Orchestrations on the durable engine inside the local host, with the real worker library.

They are started over the web hooks, so many at once, and the clock runs until none is live. The
recorded figures are of the real Durable extension on two processors, on Azurite.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from benchmarks.processes import Server, running_host
from benchmarks.report import Row, ratio, show_circumstances, show_table

APP = """
import azure.durable_functions as df
import azure.functions as func

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)

@app.orchestration_trigger(context_name="context")
def one(context: df.DurableOrchestrationContext):
    result = yield context.call_activity("echo", 1)
    return result

@app.orchestration_trigger(context_name="context")
def fan(context: df.DurableOrchestrationContext):
    count = context.get_input()["n"]
    results = yield context.task_all([context.call_activity("echo", n) for n in range(count)])
    return len(results)

@app.orchestration_trigger(context_name="context")
def chain(context: df.DurableOrchestrationContext):
    for n in range(context.get_input()["n"]):
        yield context.call_activity("echo", n)

@app.activity_trigger(input_name="n")
def echo(n: int) -> int:
    return n
"""
HOOKS = "/runtime/webhooks/durabletask"
STARTS_AT_ONCE = 20
POLL_SECONDS = 0.02
WARM_UP = 50
SIZES = (100, 1000, 10_000)
RECORDED_RATE = 37.6
RECORDED_SECONDS = {
    ("one", 1): 0.070,
    ("fan", 10): 0.19,
    ("fan", 100): 0.98,
    ("fan", 300): 2.75,
    ("chain", 20): 0.57,
}
REPEATS = 5
HEADER = (
    *("instances", "started in s", "done in s", "per s", "to 38/s", "processor ms each"),
    *("host MB", "store MB"),
)


class Hub:
    """The web hooks of a running host."""

    def __init__(self, server: Server, http: aiohttp.ClientSession) -> None:
        self.server = server
        self._http = http

    async def start(self, name: str, number: int = 1) -> str:
        """Start one; answers its id."""
        async with self._http.post(f"{HOOKS}/orchestrators/{name}", json={"n": number}) as answer:
            document: dict[str, Any] = await answer.json()
            return str(document["id"])

    async def ended(self, id: str) -> None:
        """Return when it is over. Raises RuntimeError when it did not complete."""
        while True:
            async with self._http.get(f"{HOOKS}/instances/{id}") as answer:
                status = (await answer.json())["runtimeStatus"]
            if status not in ("Pending", "Running"):
                break
            await asyncio.sleep(0.002)
        if status != "Completed":
            raise RuntimeError(f"{id} ended {status}")

    async def all_ended(self) -> None:
        """Return when no orchestration is live."""
        live = {"runtimeStatus": "Pending,Running", "top": "1"}
        while True:
            async with self._http.get(f"{HOOKS}/instances", params=live) as answer:
                if not await answer.json():
                    return
            await asyncio.sleep(POLL_SECONDS)

    async def run_many(self, count: int) -> tuple[float, float]:
        """Run so many orchestrations of one activity; seconds to start them, and in all."""
        left = iter(range(count))

        async def starter() -> None:
            for _ in left:
                await self.start("one")

        began = time.perf_counter()
        await asyncio.gather(*[starter() for _ in range(STARTS_AT_ONCE)])
        started = time.perf_counter() - began
        await self.all_ended()
        return started, time.perf_counter() - began


def main() -> None:
    """Measure single ones first, then growing numbers on one store."""
    show_circumstances()
    with tempfile.TemporaryDirectory() as folder, running_host(Path(folder), APP) as server:
        asyncio.run(_measure(server))


async def _measure(server: Server) -> None:
    key = {"x-functions-key": server.system_key()}
    async with aiohttp.ClientSession(server.url, headers=key) as http:
        hub = Hub(server, http)
        await hub.run_many(WARM_UP)
        show_table(
            "One orchestration, from its start to its end",
            ("", "seconds", "real extension", "ratio"),
            [row async for row in _single(hub)],
        )
        show_table(
            f"Orchestrations of one activity, {STARTS_AT_ONCE} starts at once",
            HEADER,
            [await _many(hub, count) for count in SIZES],
        )


async def _single(hub: Hub) -> AsyncIterator[Row]:
    for (name, number), recorded in RECORDED_SECONDS.items():
        taken = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            await hub.ended(await hub.start(name, number))
            taken.append(time.perf_counter() - began)
        seconds = median(taken)
        yield f"{name} {number}", f"{seconds:.3f}", f"{recorded:.3f}", ratio(seconds, recorded)


async def _many(hub: Hub, count: int) -> Row:
    before = hub.server.processor_seconds()
    started, seconds = await hub.run_many(count)
    processor = hub.server.processor_seconds() - before
    store = (hub.server.data / "durable.sqlite3").stat().st_size / 2**20
    return (
        f"{count}",
        f"{started:.1f}",
        f"{seconds:.1f}",
        f"{count / seconds:.0f}",
        ratio(count / seconds, RECORDED_RATE),
        f"{processor / count * 1000:.1f}",
        f"{hub.server.resident_megabytes():.0f}",
        f"{store:.0f}",
    )


if __name__ == "__main__":
    main()
