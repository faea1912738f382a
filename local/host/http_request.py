"""An HTTP request as the worker gets it; every rule is from the recordings of the real host."""

from collections.abc import Mapping

from aiohttp import HttpVersion11, web

from local.host.protocol import RpcHttp, TypedData
from local.host.urls import encode_path, parse_query

MAX_REQUEST_LINE = 8192
MAX_HEADER_BYTES = 32 * 1024
MAX_BODY_BYTES = 100 * 1024 * 1024


def refusal(request: web.Request) -> int | None:
    """The status of a request that no function ever sees, or None."""
    if len(request.raw_path) > MAX_REQUEST_LINE:
        return 414
    if sum(len(name) + len(value) + 4 for name, value in request.raw_headers) > MAX_HEADER_BYTES:
        return 431
    if "Host" not in request.headers and request.version >= HttpVersion11:
        return 400
    if not request.headers.get("Host") or (request.content_length or 0) > MAX_BODY_BYTES:
        return 500
    return None


async def read_request(request: web.Request, path: str, params: Mapping[str, str]) -> RpcHttp:
    """The request with its decoded path and route parameters.

    A body that is sent in chunks, without Content-Length, arrives empty. Raises BadPath.
    """
    _, question, query = request.raw_path.partition("?")
    body = await request.read() if request.content_length else b""
    return RpcHttp(
        method=request.method,
        url=f"http://{request.headers['Host']}{encode_path(path)}{question}{query}",
        headers=_joined_headers(request),
        params=params,
        query=parse_query(query),
        body=TypedData(bytes=body or None),
    )


def _joined_headers(request: web.Request) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in request.headers.items():
        key = name.lower()
        joined[key] = f"{joined[key]},{value}" if key in joined else value
    return joined
