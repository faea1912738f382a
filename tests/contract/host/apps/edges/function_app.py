"""The app whose answers are recorded in recorded_http.json, function by function."""

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Generator
from typing import Any

import azure.durable_functions as df
import azure.functions as func
from werkzeug.datastructures import Headers

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def _echo(name: str, req: func.HttpRequest) -> func.HttpResponse:
    body = req.get_body()
    seen: dict[str, Any] = {
        "fn": name,
        "method": req.method,
        "url": req.url,
        "headers": dict(req.headers),
        "params": dict(req.params),
        "route_params": dict(req.route_params),
        "body_type": type(body).__name__,
        "body": body.decode("latin-1")[:200],
        "body_len": len(body),
        "form": dict(req.form),
    }
    try:
        seen["json"] = req.get_json()
    except ValueError as error:
        seen["json_exc"] = f"ValueError: {error}"
    return _json(seen)


def _json(document: object) -> func.HttpResponse:
    return func.HttpResponse(json.dumps(document), mimetype="application/json")


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


@app.route(route="retry/{fileId}", methods=["POST", "GET"])
def z_retry_one(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("z_retry_one", req)


@app.route(route="again/{fileId}", methods=["POST", "GET"])
def a_again_one(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("a_again_one", req)


@app.route(route="again/batch", methods=["POST", "GET"])
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


@app.route(route="secret", methods=["GET"], auth_level=func.AuthLevel.FUNCTION)
def secret(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("secret", req)


@app.route(route="adm", methods=["GET"], auth_level=func.AuthLevel.ADMIN)
def adm(req: func.HttpRequest) -> func.HttpResponse:
    return _json({"ok": 1})


@app.route(route="off", methods=["GET"])
def off(req: func.HttpRequest) -> func.HttpResponse:
    return _echo("off", req)


@app.route(route="araise", methods=["GET"])
async def araise(req: func.HttpRequest) -> func.HttpResponse:
    raise RuntimeError("async boom")


@app.route(route="sleep", methods=["GET"])
def ssleep(req: func.HttpRequest) -> func.HttpResponse:
    started = time.time()
    time.sleep(float(req.params["s"]))
    return _json({"t0": started, "t1": time.time()})


@app.route(route="asleep", methods=["GET"])
async def asleep(req: func.HttpRequest) -> func.HttpResponse:
    started = time.time()
    await asyncio.sleep(float(req.params["s"]))
    return _json({"t0": started, "t1": time.time()})


@app.route(route="ablock", methods=["GET"])
async def ablock(req: func.HttpRequest) -> func.HttpResponse:
    started = time.time()
    # Blocks the worker's loop: that is the point.
    time.sleep(float(req.params["s"]))  # noqa: ASYNC251
    return _json({"t0": started, "t1": time.time()})


@app.route(route="exit", methods=["GET"])
def exitnow(req: func.HttpRequest) -> func.HttpResponse:
    sys.exit(7)


@app.route(route="aexit", methods=["GET"])
async def aexit(req: func.HttpRequest) -> func.HttpResponse:
    sys.exit(8)


@app.route(route="hardexit", methods=["GET"])
def hardexit(req: func.HttpRequest) -> func.HttpResponse:
    os._exit(9)


@app.route(route="ctx", methods=["GET", "POST"])
def ctxfn(req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
    logging.warning("user warning")
    trace = context.trace_context
    retry = context.retry_context
    return _json(
        {
            "invocation_id": context.invocation_id,
            "function_name": context.function_name,
            "function_directory": context.function_directory,
            "trace": [trace.trace_parent, trace.trace_state, trace.attributes],
            "retry": [retry.retry_count, retry.max_retry_count],
        }
    )


@app.route(route="noann", methods=["GET"])
def noann(req):  # type: ignore[no-untyped-def]  # that is the point
    return "noann"


@app.route(route="annstr", methods=["GET"])
def annstr(req: func.HttpRequest) -> str:
    return "annstr"


@app.route(route="outp", methods=["GET"])
def outp(req):  # type: ignore[no-untyped-def]  # that is the point
    return func.HttpResponse("no annotation")


HEADERS = {
    "Date": "never",
    "Server": "mine",
    "Cache-Control": "no-store",
    "ETag": '"1"',
    "Location": "/x",
    "WWW-Authenticate": "Bearer",
    "X-A": "1",
    "x-b": "two",
    "X-Empty": "",
}


@app.route(route="hdr1", methods=["GET"])
def hdr1(req: func.HttpRequest) -> func.HttpResponse:
    more = {
        "Allow": "GET",
        "Connection": "close",
        "Content-Disposition": "attachment",
        "Content-Language": "en",
    }
    return func.HttpResponse("x", headers=HEADERS | more)


@app.route(route="hdr2", methods=["GET"])
def hdr2(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("x", headers={"Content-Length": "1"})


@app.route(route="hdr3", methods=["GET"])
def hdr3(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("xyz", headers={"Content-Length": "1"})


@app.route(route="hdr4", methods=["GET"])
def hdr4(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("x", headers={"Transfer-Encoding": "chunked"})


@app.timer_trigger(arg_name="t", schedule="*/5 * * * * *")
def tick(t: func.TimerRequest) -> None:
    logging.info("tick, past due: %s", t.past_due)


@app.timer_trigger(arg_name="t", schedule="0 0 0 1 1 *", run_on_startup=True)
def tickboot(t: func.TimerRequest) -> None:
    logging.info("tickboot, past due: %s", t.past_due)


@app.timer_trigger(arg_name="t", schedule="0 0 0 1 1 *", use_monitor=False)
def tickfail(t: func.TimerRequest) -> None:
    raise RuntimeError("tickboom")


@app.service_bus_topic_trigger(
    arg_name="msg",
    connection="SB",
    topic_name="%TOPIC%",
    subscription_name="sub",
    data_type=func.DataType.BINARY,
)
def on_bin(msg: func.ServiceBusMessage) -> None:
    logging.info("on_bin got %d bytes", len(msg.get_body()))


@app.route(route="dstart/{id}", methods=["POST"])
@app.durable_client_input(client_name="client")
async def dstart(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    instance_id = await client.start_new("orch", req.route_params["id"], None)
    return client.create_check_status_response(req, instance_id)


@app.orchestration_trigger(context_name="context")
def orch(context: df.DurableOrchestrationContext) -> Generator[Any, Any, Any]:
    result = yield context.call_activity("act", 1)
    return result


@app.activity_trigger(input_name="payload")
def act(payload: int) -> int:
    return payload


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
    "1000": lambda: func.HttpResponse("odd", status_code=1000),
    "headers": lambda: func.HttpResponse(
        "x", headers=HEADERS | {"Content-Length": "99", "Transfer-Encoding": "chunked"}
    ),
    "toolong": lambda: func.HttpResponse("x", headers={"Content-Length": "99"}),
}


def _many_headers() -> Headers:
    headers = Headers()
    headers.add("Set-Cookie", "a=b; Path=/")
    headers.add("Set-Cookie", "c=d; Domain=cookie-domain; Expires=Wed, 21 Oct 2099 07:28:00 GMT")
    headers.add("X-M", "1")
    headers.add("X-M", "2")
    return headers


@app.route(route="resp/{kind}", methods=["GET", "POST"])
def resp(req: func.HttpRequest) -> func.HttpResponse:
    return RESPONSES[req.route_params["kind"]]()  # type: ignore[no-any-return]
