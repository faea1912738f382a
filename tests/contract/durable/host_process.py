"""A host that a test can kill: the engine in a process of its own, with its HTTP interface.

Arguments: the folder of the store and of what activities write, the visibility in seconds.
"""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import azure.durable_functions as df
from aiohttp import web

from local.durable.api import routes
from local.durable.engine import DurableEngine, DurableOptions
from tests.contract.durable.hub import HUB, KEY
from tests.contract.durable.library import LibraryFunctions

STEPS = 6


def chain(context: df.DurableOrchestrationContext) -> Any:
    """Some steps, one after the other; answers what each of them returned."""
    results = []
    for number in range(STEPS):
        result = yield context.call_activity("step", [context.instance_id, number])
        results.append(result)
    return results


def wait_for_go(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.wait_for_external_event("Go")
    return result


def sleep(context: df.DurableOrchestrationContext) -> Any:
    yield context.create_timer(context.current_utc_datetime + timedelta(seconds=2))
    return "slept"


def rest(context: df.DurableOrchestrationContext) -> Any:
    result = yield context.call_activity("rest_once", context.instance_id)
    return result


class Activities:
    """They write down every call in a file, so that a test can count them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(self, line: str) -> int:
        """Write a line; answers how often it has been written."""
        with (self._folder / "calls.txt").open("a") as file:
            file.write(line + "\n")
        return (self._folder / "calls.txt").read_text().split("\n").count(line)

    async def step(self, instance_and_number: list[Any]) -> int:
        """A short piece of work."""
        instance, number = instance_and_number
        self.note(f"{instance} {number}")
        await asyncio.sleep(0.03)
        return int(number)

    async def rest_once(self, instance: str) -> str:
        """Never ends at the first call, ends at once at the second."""
        if self.note(instance) == 1:
            await asyncio.Event().wait()
        return "rested"


async def serve(folder: Path, visibility: float) -> None:
    activities = Activities(folder)
    functions = LibraryFunctions(
        [chain, wait_for_go, sleep, rest], [activities.step, activities.rest_once]
    )
    options = DurableOptions(HUB, 20, 20, timedelta(seconds=visibility))
    engine = DurableEngine(folder / "hub.db", functions, options)
    await engine.start()
    app = web.Application()
    app.add_routes(routes(engine, KEY))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, told.set)
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await told.wait()
    await engine.stop()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), float(sys.argv[2])))
