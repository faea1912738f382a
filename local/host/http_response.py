"""What a function returned as an HTTP response; every rule is from the recordings."""

from datetime import UTC, datetime
from email.utils import format_datetime

from aiohttp import web

from local.host.protocol import RpcHttp, RpcHttpCookie, TypedData

FAILED = 500
DROPPED_HEADERS = ("content-length", "transfer-encoding")


def to_response(value: TypedData | None) -> web.Response:
    """The response for a return value; 500 without a body for what can't be sent."""
    if value is None:
        return web.Response(status=204)
    if value.http is not None:
        return _from_http(value.http)
    response = web.Response(body=(value.string or "").encode())
    response.headers["Content-Type"] = "text/plain; charset=utf-8"
    return _chunked(response)


def _from_http(answer: RpcHttp) -> web.Response:
    body = (answer.body.bytes if answer.body else None) or b""
    if not all(value.isascii() for value in answer.headers.values()):
        return web.Response(status=FAILED)
    response = web.Response(status=int(answer.status_code), body=body)
    response.headers.popall("Content-Type", None)
    for name, value in answer.headers.items():
        if name.lower() not in DROPPED_HEADERS:
            response.headers[name] = value
    for cookie in answer.cookies or []:
        response.headers.add("Set-Cookie", _cookie_text(cookie))
    announced = {name.lower(): value for name, value in answer.headers.items()}
    if "content-length" in announced:
        return _with_length(response, int(announced["content-length"]), len(body))
    return _chunked(response)


def _with_length(response: web.Response, announced: int, actual: int) -> web.Response:
    """Too little announced is an error; too much is sent as it is and the connection ends."""
    if announced < actual:
        return web.Response(status=FAILED)
    response.headers["Content-Length"] = str(announced)
    if announced > actual:
        response.force_close()
    return response


def _chunked(response: web.Response) -> web.Response:
    if response.body and response.status not in (204, 304):
        response.enable_chunked_encoding()
    return response


def _cookie_text(cookie: RpcHttpCookie) -> str:
    parts = [f"{cookie.name}={cookie.value}"]
    if cookie.expires:
        at = datetime.fromtimestamp(cookie.expires.value.seconds, UTC)
        parts.append(f"expires={format_datetime(at, usegmt=True)}")
    if cookie.max_age:
        parts.append(f"max-age={int(cookie.max_age.value)}")
    parts.extend(
        f"{name}={part.value}"
        for name, part in (("domain", cookie.domain), ("path", cookie.path))
        if part
    )
    if cookie.secure and cookie.secure.value:
        parts.append("secure")
    if cookie.same_site:
        parts.append(f"samesite={('', 'lax', 'strict', 'none')[cookie.same_site]}")
    if cookie.http_only and cookie.http_only.value:
        parts.append("httponly")
    return "; ".join(parts)
