"""The HTTP server in front: the host's own paths, the durable web hooks, and HTTP triggers."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http import SERVER_SOFTWARE
from aiohttp.typedefs import Handler

from local.host.admin import Admin, unauthorized
from local.host.functions import Function
from local.host.http_request import MAX_HEADER_BYTES, read_request, refusal
from local.host.http_response import chunk, to_response
from local.host.invoker import Invoker
from local.host.keys import Keys, presented_key
from local.host.protocol import TypedData
from local.host.routes import Route, find
from local.host.urls import BadPath, decode_path
from local.host.webhooks import webhook_keys
from local.host.worker import CallFailed

REASON = "This function was programmatically called via the host APIs."
SERVER = "Kestrel"
"""What the real host calls itself in the header `Server`."""
PARSER_LIMIT = 4 * MAX_HEADER_BYTES
"""Beyond the host's own limits, so that those answer."""
UNTYPED = "untyped"
"""Marks a response with a body that goes out without a content type."""
ROOT_PAGE = b"<!DOCTYPE html><title>Functions</title><p>Your functions app is up and running.</p>\n"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Front:
    """Answers what the durable web hooks leave; `routes` are in load order."""

    keys: Keys
    admin: Admin
    invoker: Invoker
    functions: Mapping[str, Function]
    routes: Sequence[Route]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The answer of the host itself or of a function."""
        refused = refusal(request)
        if refused:
            return web.Response(status=refused)
        try:
            path = decode_path(request.raw_path.partition("?")[0])
            return await self._route(request, path)
        except BadPath:
            return web.Response(status=400)

    async def _route(self, request: web.Request, path: str) -> web.StreamResponse:
        if path == "/":
            return web.Response(body=ROOT_PAGE, headers={"Content-Type": "text/html"})
        if path.lower().startswith("/admin/"):
            return self.admin.answer(request, path)
        if path.lower().startswith("/runtime/webhooks/"):
            return unauthorized()
        found = find(self.routes, request.method, path)
        if found is None:
            return web.Response(status=404)
        name, params = found
        return await self._call(request, self.functions[name], path, params)

    async def _call(
        self, request: web.Request, function: Function, path: str, params: Mapping[str, str]
    ) -> web.StreamResponse:
        level = function.trigger.settings.get("authLevel", "FUNCTION")
        if not self.keys.opens(level, function.name, presented_key(request)):
            return web.Response(status=401)
        inputs = {function.trigger.name: TypedData(http=await read_request(request, path, params))}
        try:
            value = await self.invoker.call(function, inputs, {}, REASON)
            return chunk(request, to_response(value))
        except CallFailed:
            return web.Response(status=500)
        except ValueError as error:
            logger.error("What 'Functions.%s' returned can't be sent: %s", function.name, error)
            return web.Response(status=500)


@dataclass(frozen=True)
class FrontInError:
    """Answers 503 for everything but ping and status, which say why."""

    admin: Admin

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The answer of a host that can't run."""
        if request.path.lower().startswith("/admin/host/"):
            return self.admin.answer(request, request.path)
        response = web.Response(status=503, body=b"Function host is not running.")
        response[UNTYPED] = True
        return chunk(request, response)


def make_app(
    handle: Handler,
    keys: Keys,
    hooks: Sequence[web.RouteDef] = (),
    custom_headers: Mapping[str, str] | None = None,
) -> web.Application:
    """The server: `hooks` (the durable web hooks) first, everything else to `handle`."""
    app = web.Application(client_max_size=0, middlewares=[webhook_keys(keys)])
    app.add_routes(hooks)
    app.router.add_route("*", "/{path:(?s:.*)}", handle)
    app.on_response_prepare.append(_add_headers(custom_headers or {}))
    return app


def make_runner(app: web.Application) -> web.AppRunner:
    """The runner with limits that leave the answer to the host, and bodies left as they came."""
    return web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,
        max_line_size=PARSER_LIMIT,
        max_field_size=PARSER_LIMIT,
        lingering_time=1.0,
        shutdown_timeout=0.1,
    )


type Hook = Callable[[web.Request, web.StreamResponse], Awaitable[None]]


def _add_headers(headers: Mapping[str, str]) -> Hook:
    async def add(_request: web.Request, response: web.StreamResponse) -> None:
        if UNTYPED in response:
            del response.headers["Content-Type"]
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        if response.headers["Server"] == SERVER_SOFTWARE:
            response.headers["Server"] = SERVER

    return add
