"""What a function returned as an HTTP response; every rule is from the recordings."""

from datetime import UTC, datetime
from email.utils import format_datetime

from aiohttp import HttpVersion11, web

from local.host.protocol import RpcHttp, RpcHttpCookie, TypedData

DROPPED_HEADERS = ("content-length", "transfer-encoding")


def to_response(value: TypedData | None) -> web.Response:
    """The response for a return value. Raises ValueError for what can't be sent."""
    if value is None:
        return web.Response(status=204)
    if value.http is not None:
        return _from_http(value.http)
    response = web.Response(body=(value.string or "").encode())
    response.headers["Content-Type"] = "text/plain; charset=utf-8"
    return response


def chunk(request: web.Request, response: web.Response) -> web.Response:
    """Send a body in chunks unless its length is announced; HTTP/1.0 has no chunks."""
    length_is_known = not response.body or "Content-Length" in response.headers
    may_have_chunks = request.version >= HttpVersion11 and response.status not in (204, 304)
    if may_have_chunks and not length_is_known:
        response.enable_chunked_encoding()
    return response


def _from_http(answer: RpcHttp) -> web.Response:
    body = (answer.body.bytes if answer.body else None) or b""
    if not all(value.isascii() for value in answer.headers.values()):
        raise ValueError("a header of the response has a character outside ASCII")
    response = web.Response(status=int(answer.status_code), body=body)
    response.headers.popall("Content-Type", None)
    for name, value in answer.headers.items():
        if name.lower() not in DROPPED_HEADERS:
            response.headers[name] = value
    for cookie in answer.cookies or []:
        response.headers.add("Set-Cookie", _cookie_text(cookie))
    announced = {name.lower(): value for name, value in answer.headers.items()}
    if "content-length" in announced:
        _announce_length(response, int(announced["content-length"]), len(body))
    return response


def _announce_length(response: web.Response, announced: int, actual: int) -> None:
    """Too little announced is an error; too much is sent as it is and the connection ends."""
    if announced < actual:
        raise ValueError(f"Content-Length {announced} is less than the {actual} bytes of the body")
    response.headers["Content-Length"] = str(announced)
    if announced > actual:
        response.force_close()


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
