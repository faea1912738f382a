"""A task hub for tests: the engine, its HTTP interface on a real socket, and real clients."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from azure.durable_functions import DurableOrchestrationClient
from azure.durable_functions.models.utils import http_utils

from local.durable.api import WEBHOOK_PATH, client_binding, routes, rpc_routes
from local.durable.clock import Clock
from local.durable.engine import DurableEngine, DurableOptions
from local.durable.instances import Instance
from tests.contract.durable.library import LibraryFunctions
from tests.until import until

HUB = "TestHub"
KEY = "a-key"
OPTIONS = DurableOptions(
    hub_name=HUB,
    max_concurrent_orchestrators=20,
    max_concurrent_activities=20,
    work_item_visibility=timedelta(minutes=5),
)


@dataclass(frozen=True)
class Hub:
    """A running engine; `client` is Microsoft's, `http` a session below the web hooks' path."""

    engine: DurableEngine
    functions: LibraryFunctions
    url: str
    client: DurableOrchestrationClient
    http: aiohttp.ClientSession

    async def start(self, name: str, input: Any = None, id: str | None = None) -> str:
        """Start an orchestration with the client; answers its id."""
        return str(await self.client.start_new(name, id, input))

    async def waiting(self, id: str, calls: int = 1) -> None:
        """Return once the orchestrator has been called that often and what it said is stored."""
        await until(lambda: len(self.functions.documents_of(id)) >= calls)
        await until(lambda: self.instance(id).status.name in ("Running", "Suspended"))

    async def ended(self, id: str, seconds: float = 10) -> dict[str, Any]:
        """The status document once the instance is over."""
        await until(lambda: self.instance(id).status.is_final, seconds)
        return await self.status(id)

    async def run(self, name: str, input: Any = None, id: str | None = None) -> dict[str, Any]:
        """Start an orchestration; answers its status document at the end."""
        return await self.ended(await self.start(name, input, id))

    def instance(self, id: str) -> Instance:
        """What is stored of an instance."""
        return self.engine.instances.find(id)

    async def status(self, id: str, **flags: str) -> dict[str, Any]:
        """The status document, by HTTP."""
        async with self.http.get(f"instances/{id}", params=flags) as answer:
            document: dict[str, Any] = await answer.json()
            return document

    async def history(self, id: str) -> list[dict[str, Any]]:
        """The history as clients see it, with outputs."""
        document = await self.status(id, showHistory="true", showHistoryOutput="true")
        events: list[dict[str, Any]] = document["historyEvents"]
        return events

    async def post(self, path: str, json: Any = None, **parameters: str) -> int:
        """POST below the web hooks' path; answers the status code."""
        async with self.http.post(path, json=json, params=parameters) as answer:
            await answer.read()
            return answer.status


@asynccontextmanager
async def running_hub(
    database: Path,
    functions: LibraryFunctions,
    options: DurableOptions = OPTIONS,
    clock_rate: float = 1,
) -> AsyncIterator[Hub]:
    """Run an engine on a store, with its HTTP interface on a free port, until the block ends."""
    engine = DurableEngine(database, functions, options, Clock(clock_rate))
    await engine.start()
    app = web.Application()
    app.add_routes(routes(engine, KEY) + rpc_routes(engine, KEY))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        binding = client_binding(options.hub_name, url, url, KEY)
        async with _session(f"{url}{WEBHOOK_PATH}/", {"x-functions-key": KEY}) as http:
            yield Hub(engine, functions, url, DurableOrchestrationClient(binding), http)
    finally:
        # The durable library keeps one session for its process; ours must not outlive its loop.
        await http_utils._close_session()
        await runner.cleanup()
        await engine.stop()


def _session(base_url: str, headers: Mapping[str, str]) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(base_url=base_url, headers=headers)
