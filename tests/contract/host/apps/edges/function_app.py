"""The app whose answers are recorded in recorded_http.json, and a few functions more."""

import asyncio
import contextlib
import json
import logging
import threading
import time
from typing import Any

import azure.functions as func
from werkzeug.datastructures import Headers

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def _echo(name: str, req: func.HttpRequest) -> func.HttpResponse:
    seen: dict[str, Any] = {
        "fn": name,
        "method": req.method,
        "url": req.url,
        "headers": dict(req.headers),
        "params": dict(req.params),
        "route_params": dict(req.route_params),
        "body_len": len(req.get_body()),
    }
    with contextlib.suppress(ValueError):
        seen["json"] = req.get_json()
    return func.HttpResponse(json.dumps(seen), mimetype="application/json")


@app.route(route="echo", methods=["GET", "POST", "PUT"])
def echo(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("echo", req)


@app.route(route="nomethods")
def nomethods(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("nomethods", req)


@app.route(route="onlyget", methods=["GET"])
def onlyget(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("onlyget", req)


@app.route(route="item/{id}", methods=["GET", "POST"])
def item(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("item", req)


@app.route(route="item2/{id}/sub/{name}", methods=["GET"])
def item2(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("item2", req)


@app.route(route="g/{id:guid}", methods=["GET"])
def gguid(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("gguid", req)


@app.route(route="n/{id:int}", methods=["GET"])
def nint(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("nint", req)


@app.route(route="opt/{id?}", methods=["GET"])
def opt(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("opt", req)


@app.route(route="optint/{id:int?}", methods=["GET"])
def optint(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("optint", req)


@app.route(route="dflt/{id=abc}", methods=["GET"])
def dflt(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("dflt", req)


@app.route(route="catch/{*rest}", methods=["GET"])
def catchall(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("catchall", req)


@app.route(route="retry/batch", methods=["POST", "GET"])
def a_retry_batch(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("a_retry_batch", req)


@app.route(route="retry/{fileId}", methods=["POST"])
def z_retry_one(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("z_retry_one", req)


@app.route(route="again/{fileId}", methods=["POST"])
def a_again_one(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("a_again_one", req)


@app.route(route="again/batch", methods=["POST"])
def z_again_batch(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("z_again_batch", req)


@app.route(route="same", methods=["GET"])
def same_get(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("same_get", req)


@app.route(route="same", methods=["POST"])
def same_post(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("same_post", req)


@app.route(route="mix/lit", methods=["GET"])
def mix_lit(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("mix_lit", req)


@app.route(route="mix/{p}", methods=["POST"])
def mix_par(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("mix_par", req)


@app.route(route="dup", methods=["GET"])
def dup_a(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("dup_a", req)


@app.route(route="dup", methods=["GET"])
def dup_b(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("dup_b", req)


@app.function_name("NoRouteName")
@app.route(methods=["GET"])
def noroute(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("noroute", req)


@app.route(route="admin/mine", methods=["GET"])
def reserved(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("reserved", req)


@app.route(route="secret", methods=["GET"], auth_level=func.AuthLevel.FUNCTION)
def secret(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("secret", req)


@app.route(route="adm", methods=["GET"], auth_level=func.AuthLevel.ADMIN)
def adm(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("adm", req)


@app.route(route="off", methods=["GET", "POST"])
def off(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("off", req)


@app.route(route="araise", methods=["GET"])
async def araise(req: func.HttpRequest) -> func.HttpResponse:
    raise RuntimeError("async boom")


@app.route(route="sleep", methods=["GET"])
def sleep(req: func.HttpRequest) -> str:
    time.sleep(float(req.params["seconds"]))
    return threading.current_thread().name


@app.route(route="block", methods=["GET"])
async def block(req: func.HttpRequest) -> str:
    # Blocks the worker's loop: that is the point.
    time.sleep(float(req.params["seconds"]))  # noqa: ASYNC251
    return "blocked"


@app.route(route="together", methods=["GET"])
async def together(req: func.HttpRequest) -> str:
    await asyncio.sleep(float(req.params["seconds"]))
    return "slept"


@app.route(route="context", methods=["GET"])
def in_context(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
    logging.warning("user warning")
    trace = context.trace_context
    retry = context.retry_context
    seen = {
        "function": context.function_name,
        "trace": [trace.trace_parent, trace.trace_state, trace.attributes],
        "retry": [retry.retry_count, retry.max_retry_count],
    }
    return func.HttpResponse(json.dumps(seen), mimetype="application/json")


def _raise() -> None:
    raise ValueError("boom \u00fcn\u00efcode\nsecond line")


RESPONSES: dict[str, Any] = {
    "none": lambda: None,
    "str": lambda: "plain str",
    "strempty": lambda: "",
    "bytes": lambda: b"bytes",
    "dict": lambda: {"a": 1},
    "list": lambda: [1],
    "int": lambda: 5,
    "tuple": lambda: ("x", 201),
    "empty": lambda: func.HttpResponse(),
    "text": lambda: func.HttpResponse("h\u00e9llo"),
    "bytesbody": lambda: func.HttpResponse(b"\x00\xff\x01"),
    "bytesjson": lambda: func.HttpResponse(b'{"a":1}', mimetype="application/json"),
    "nobody204": lambda: func.HttpResponse(status_code=204),
    "body204": lambda: func.HttpResponse("x", status_code=204),
    "304": lambda: func.HttpResponse("x", status_code=304),
    "404": lambda: func.HttpResponse("nf", status_code=404),
    "500": lambda: func.HttpResponse("err", status_code=500),
    "599": lambda: func.HttpResponse("odd", status_code=599),
    "99": lambda: func.HttpResponse("odd", status_code=99),
    "strstatus": lambda: func.HttpResponse("odd", status_code="201"),
    "mime": lambda: func.HttpResponse("x", mimetype="text/html"),
    "charset": lambda: func.HttpResponse("\u00e9", charset="latin-1"),
    "ctheader": lambda: func.HttpResponse(
        "{}", headers={"Content-Type": "application/problem+json"}
    ),
    "ctboth": lambda: func.HttpResponse(
        "{}", headers={"Content-Type": "application/problem+json"}, mimetype="text/html"
    ),
    "hdrlist": lambda: func.HttpResponse("x", headers=[("X-A", "1")]),
    "unihdr": lambda: func.HttpResponse("x", headers={"X-U": "\u20ac"}),
    "intheader": lambda: func.HttpResponse("x", headers={"X-N": 5}),
    "crlf": lambda: func.HttpResponse("x", headers={"X-A": "1\r\nX-B: 2"}),
    "cookie": lambda: func.HttpResponse(
        "x",
        headers={"Set-Cookie": "a=b; Path=/; HttpOnly; Max-Age=60; Secure; SameSite=Lax"},
    ),
    "cookie2": lambda: func.HttpResponse("x", headers=_many_headers()),
    "big": lambda: func.HttpResponse("x" * 5_000_000),
    "dictbody": lambda: func.HttpResponse({"a": 1}),
    "raise": _raise,
    "raisebase": lambda: {}["kk"],
    "notresp": lambda: object(),
    "ownserver": lambda: func.HttpResponse("x", headers={"Server": "mine", "Date": "never"}),
    "length": lambda: func.HttpResponse("x", headers={"Content-Length": "1"}),
    "tooshort": lambda: func.HttpResponse("xyz", headers={"Content-Length": "1"}),
    "toolong": lambda: func.HttpResponse("x", headers={"Content-Length": "99"}),
}


def _many_headers() -> Headers:
    headers = Headers()
    headers.add("Set-Cookie", "a=b; Path=/")
    headers.add("Set-Cookie", "c=d; Domain=cookie-domain; Expires=Wed, 21 Oct 2099 07:28:00 GMT")
    headers.add("X-M", "1")
    headers.add("X-M", "2")
    return headers


@app.route(route="resp/{kind}", methods=["GET"])
def resp(req: func.HttpRequest) -> func.HttpResponse:
    return RESPONSES[req.route_params["kind"]]()  # type: ignore[no-any-return]
