"""Orchestrations started, told and looked up through the durable client."""

import json
import time
from collections.abc import Generator
from typing import Any

import azure.durable_functions as df
import azure.functions as func

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)


@app.route(route="start/{name}/{id}", methods=["POST"])
@app.durable_client_input(client_name="client")
async def start(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    instance_id = await client.start_new(
        req.route_params["name"], req.route_params["id"], req.get_json()
    )
    return client.create_check_status_response(req, instance_id)


@app.route(route="tell/{id}/{event}", methods=["POST"])
@app.durable_client_input(client_name="client")
async def tell(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    await client.raise_event(req.route_params["id"], req.route_params["event"], req.get_json())
    return func.HttpResponse(status_code=202)


@app.route(route="status/{id}", methods=["GET"])
@app.durable_client_input(client_name="client")
async def status(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    found = await client.get_status(req.route_params["id"])
    seen = {"status": found.runtime_status and found.runtime_status.name, "output": found.output}
    return func.HttpResponse(json.dumps(seen), mimetype="application/json")


@app.orchestration_trigger(context_name="context")
def ask_then_wait(context: df.DurableOrchestrationContext) -> Generator[Any, Any, Any]:
    shouted = yield context.call_activity("shout", context.get_input())
    approval = yield context.wait_for_external_event("Approved")
    return [shouted, json.loads(approval)]


@app.orchestration_trigger(context_name="context")
def work_slowly(context: df.DurableOrchestrationContext) -> Generator[Any, Any, Any]:
    first = yield context.call_activity("shout", "first")
    second = yield context.call_activity("take_a_while", context.get_input())
    return [first, second]


@app.orchestration_trigger(context_name="context")
def fail(context: df.DurableOrchestrationContext) -> Generator[Any, Any, Any]:
    yield context.call_activity("boom", "x")


@app.activity_trigger(input_name="text")
def shout(text: str) -> str:
    return text.upper() + "!"


@app.activity_trigger(input_name="seconds")
def take_a_while(seconds: float) -> str:
    time.sleep(seconds)
    return "rested"


@app.activity_trigger(input_name="text")
def boom(text: str) -> None:
    raise ValueError(f"boom {text}")
