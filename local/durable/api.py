"""The engine's HTTP interface: the web hooks with their key, and the same calls without one.

The Python client uses the calls without a key, so they belong on a loopback address only. Large
inputs need an application whose `client_max_size` lets them through.
"""

import hmac
from collections.abc import Awaitable, Sequence
from urllib.parse import unquote

from aiohttp import web

from local.durable.engine import DurableEngine
from local.durable.handlers import Handlers
from local.durable.instances import FinishedInstance, UnknownInstance
from local.durable.links import RPC_PATH, WEBHOOK_PATH, client_binding
from local.durable.parameters import Parameters
from local.durable.responses import went_wrong

__all__ = ["RPC_PATH", "WEBHOOK_PATH", "client_binding", "routes", "rpc_routes"]


def routes(engine: DurableEngine, key: str) -> list[web.RouteDef]:
    """The web hooks under `/runtime/webhooks/durabletask`, for callers that have the key."""

    async def handle(request: web.Request) -> web.Response:
        if not _has_key(request, key):
            return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
        return await _handle(request, WEBHOOK_PATH, engine, key)

    return [web.route("*", WEBHOOK_PATH + "{rest:(/.*)?}", handle)]


def rpc_routes(engine: DurableEngine, key: str = "") -> list[web.RouteDef]:
    """The same calls under `/durabletask` without a key; `key` only goes into links."""

    async def handle(request: web.Request) -> web.Response:
        return await _handle(request, RPC_PATH, engine, key)

    return [web.route("*", RPC_PATH + "{rest:(/.*)?}", handle)]


def _has_key(request: web.Request, key: str) -> bool:
    given = request.query.get("code", "") or request.headers.get("x-functions-key", "")
    return bool(given) and hmac.compare_digest(given.encode(), key.encode())


async def _handle(request: web.Request, path: str, engine: DurableEngine, key: str) -> web.Response:
    parameters = Parameters(request)
    connection = parameters.text("connection") or engine.options.connection
    if connection != engine.options.connection:
        return went_wrong(f"Unable to resolve the Azure Storage connection named '{connection}'.")
    hub = engine.options.hub_name
    if (parameters.text("taskHub") or hub).lower() != hub.lower():
        return web.Response(status=404)
    try:
        answer = _dispatch(Handlers(engine, key), request, _segments(request, path))
        return await answer if answer else web.Response(status=404)
    except UnknownInstance:
        return web.Response(status=404)
    except FinishedInstance:
        return web.Response(status=410)


def _segments(request: web.Request, path: str) -> list[str]:
    """The decoded parts of the path behind ours; a plus is a blank, also an escaped one."""
    rest = request.rel_url.raw_path[len(path) :].strip("/")
    return [unquote(segment).replace("+", " ") for segment in rest.split("/")]


def _dispatch(
    handlers: Handlers, request: web.Request, segments: Sequence[str]
) -> Awaitable[web.Response] | None:
    kind, *rest = segments
    match request.method, kind.lower(), rest:
        case "POST", "orchestrators", [name]:
            return handlers.start(request, name)
        case "POST", "orchestrators", [name, id]:
            return handlers.start(request, name, id)
        case "GET", "instances", []:
            return handlers.list(request)
        case "DELETE", "instances", []:
            return handlers.purge_all(request)
        case "GET", "instances", [id]:
            return handlers.get(request, id)
        case "DELETE", "instances", [id]:
            return handlers.purge(request, id)
        case "POST", "instances", [id, "raiseEvent", name]:
            return handlers.raise_event(request, id, name)
        case "POST", "instances", [id, operation]:
            return _operate(handlers, request, id, operation.lower())
        case _, "entities", _:
            return handlers.entities(request)
    return None


def _operate(
    handlers: Handlers, request: web.Request, id: str, operation: str
) -> Awaitable[web.Response] | None:
    match operation:
        case "terminate":
            return handlers.terminate(request, id)
        case "suspend":
            return handlers.suspend(request, id)
        case "resume":
            return handlers.resume(request, id)
        case "restart":
            return handlers.restart(request, id)
        case "rewind":
            return handlers.rewind(request, id)
    return None
