"""The order in which the host starts and stops."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from local.durable.api import client_binding
from local.durable.clock import Clock
from local.durable.database import ForeignStore
from local.durable.engine import DurableEngine
from local.host import console
from local.host.admin import Admin, HostStatus
from local.host.app_settings import read_app_settings
from local.host.config import HostConfig, read_host_config
from local.host.durable import WorkerFunctions
from local.host.errors import HostError
from local.host.functions import Function, FunctionInError, load_order, read_function
from local.host.http import Front, FrontInError, make_app, make_runner
from local.host.invoker import Invoker
from local.host.keys import Keys
from local.host.protocol import RpcFunctionMetadata
from local.host.triggers import Triggers, log_in_error
from local.host.webhooks import durable_routes
from local.host.worker import IndexingFailed, Worker
from local.settings import HOST

STOP_SECONDS = 2.0
"""How long listeners may take to give back their messages when the host is told to end."""

logger = logging.getLogger(__name__)


async def run(app: Path, port: int, data: Path, clock: Clock) -> int:
    """Serve the app until SIGINT or SIGTERM; port 0 means any free one. Answers the exit code.

    Prints `ready host http://127.0.0.1:PORT` once listeners are started. A host error is logged,
    and every path answers 503 until the process ends. Raises SystemExit when the port is taken.
    """
    told_to_end = _end_signal()
    running: dict[str, str] = {}
    console.set_up(running)
    listener = _bind(port)
    url = f"http://{HOST}:{listener.getsockname()[1]}"
    try:
        loaded = await load(app, data, running, clock)
        await loaded.start_engine(url)
    except HostError as error:
        logger.critical("A host error has occurred: %s", error)
        await _serve(listener, _app_in_error(str(error), data))
        return await told_to_end
    runner = await _serve(listener, _app(loaded))
    tasks = loaded.start_listeners()
    sys.stdout.write(f"ready host {url}\n")
    sys.stdout.flush()
    ends = (told_to_end, loaded.worker_ended)
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    await _cancel(tasks)
    await loaded.engine.stop()
    await runner.cleanup()
    return next(end.result() for end in ends if end.done())


@dataclass(frozen=True)
class LoadedApp:
    """An app that can run: its functions, also by trigger, and everything that calls them."""

    config: HostConfig
    keys: Keys
    functions: Sequence[Function]
    triggers: Triggers
    invoker: Invoker
    engine: DurableEngine
    worker_ended: asyncio.Future[int]

    async def start_engine(self, url: str) -> None:
        """Go on with what orchestrations are open; raises HostError when their store is foreign."""
        options = self.config.durable
        self.invoker.durable_client = client_binding(
            options.hub_name, url, url, self.keys.system, options.connection
        )
        try:
            await self.engine.start()
        except ForeignStore as error:
            raise HostError(str(error)) from None

    def start_listeners(self) -> list[asyncio.Task[None]]:
        """Start timers and Service Bus listeners."""
        triggers = self.triggers
        runs = [timer.run() for timer in triggers.timers.values()]
        runs += [listener.run() for listener in triggers.listeners]
        return [asyncio.create_task(_logged(run)) for run in runs]


async def load(app: Path, data: Path, running: dict[str, str], clock: Clock) -> LoadedApp:
    """Read settings and `host.json`, index the app, load its functions; raises HostError."""
    for name, value in read_app_settings(app).items():
        os.environ.setdefault(name, value)
    config = read_host_config(app, os.environ)
    worker = Worker()
    invoker = Invoker(worker, config.function_timeout, running)
    triggers = Triggers(config, os.environ, data, invoker, clock)
    functions = await _load_functions(worker, app, config)
    triggers.add(functions)
    logger.info("Found the following functions: %s", ", ".join(triggers.found))
    keys = Keys.open(data / "keys.json", triggers.functions)
    durable_functions = WorkerFunctions(
        triggers.started_by("orchestrationTrigger"), triggers.started_by("activityTrigger"), invoker
    )
    engine = DurableEngine(data / "durable.sqlite3", durable_functions, config.durable, clock)
    return LoadedApp(config, keys, functions, triggers, invoker, engine, worker.ended)


async def _load_functions(worker: Worker, app: Path, config: HostConfig) -> list[Function]:
    functions = []
    for metadata in await _index(worker, app, config):
        try:
            functions.append(read_function(metadata, os.environ))
        except FunctionInError as error:
            log_in_error(metadata.name, error)
        else:
            await worker.load(metadata.function_id)
    return functions


async def _index(worker: Worker, app: Path, config: HostConfig) -> Sequence[RpcFunctionMetadata]:
    """The wanted functions in load order; none when the app can't be indexed."""
    try:
        found = await worker.index(app)
        if not config.strict_json:
            raise IndexingFailed("host.json has comments or commas that JSON does not have.")
    except IndexingFailed as error:
        logger.error("0 functions found, because the app can't be indexed:\n%s", error)
        return []
    wanted = [f for f in found if config.functions is None or f.name in config.functions]
    return sorted(wanted, key=lambda metadata: load_order(metadata.name))


async def _logged(run: Coroutine[None, None, None]) -> None:
    try:
        await run
    except Exception:
        logger.exception("A timer or listener has ended by itself, which it never should")


async def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Listeners give back their messages; calls in progress are not waited for."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=STOP_SECONDS)


async def _serve(listener: socket.socket, app: web.Application) -> web.AppRunner:
    runner = make_runner(app)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    logger.info("Listening on http://%s:%s", *listener.getsockname())
    return runner


def _app(loaded: LoadedApp) -> web.Application:
    config, keys, triggers = loaded.config, loaded.keys, loaded.triggers
    admin = Admin(HostStatus(), keys, loaded.functions, triggers.timers, config.route_prefix)
    front = Front(
        keys=keys,
        admin=admin,
        invoker=loaded.invoker,
        functions=triggers.functions,
        routes=triggers.routes,
    )
    hooks = durable_routes(loaded.engine, keys)
    return make_app(front.handle, keys, hooks, config.custom_headers)


def _app_in_error(error: str, data: Path) -> web.Application:
    keys = Keys.open(data / "keys.json", ())
    return make_app(FrontInError(Admin(HostStatus(error), keys)).handle, keys)


def _bind(port: int) -> socket.socket:
    """Take the port without accepting: until the host is ready, connections are refused."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        raise SystemExit(f"host cannot listen on {HOST}:{port}: {error.strerror}") from None
    return listener


def _end_signal() -> asyncio.Future[int]:
    """Done, with the exit code, when the host is told to end."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()

    def tell() -> None:
        if not told.done():
            told.set_result(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, tell)
    return told
