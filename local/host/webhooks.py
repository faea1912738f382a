"""The durable web hooks on the host's port, and which keys open them."""

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from local.durable.api import WEBHOOK_PATH, routes, rpc_routes
from local.durable.engine import DurableEngine
from local.host.keys import Keys, presented_key


def durable_routes(engine: DurableEngine, keys: Keys) -> list[web.RouteDef]:
    """The web hooks with their key, and the same calls without one for the Python client."""
    return [*routes(engine, keys.system), *rpc_routes(engine, keys.system)]


def webhook_keys(keys: Keys) -> Middleware:
    """The master key opens the web hooks like the system key; a function's key is refused."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.lower().startswith(WEBHOOK_PATH):
            return await handler(request)
        presented = presented_key(request)
        if keys.is_any_function_key(presented):
            return web.Response(status=403)
        if keys.is_master(presented):
            request = request.clone(rel_url=request.rel_url.update_query(code=keys.system))
        return await handler(request)

    return check
