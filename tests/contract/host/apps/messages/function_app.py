"""Service Bus triggers that write down each call, as one line of JSON in the file CALLS."""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


def _note(what: str, msg: func.ServiceBusMessage, **more: Any) -> None:
    line = {"what": what, "id": msg.message_id, "at": time.time(), **more}
    with Path(os.environ["CALLS"]).open("a") as file:
        file.write(json.dumps(line) + "\n")


def _seen(msg: func.ServiceBusMessage) -> dict[str, Any]:
    return {
        "delivery": msg.delivery_count,
        "body": list(msg.get_body()),
        "content_type": msg.content_type,
        "correlation_id": msg.correlation_id,
        "subject": msg.subject,
        "properties": msg.application_properties,
        "metadata": sorted(msg.metadata or {}),
        "enqueued": msg.enqueued_time_utc and msg.enqueued_time_utc.isoformat(),
    }


@app.service_bus_topic_trigger(
    arg_name="msg",
    topic_name="%TOPIC%",
    subscription_name="work",
    connection="SB",
    data_type="binary",
)
async def on_work(msg: func.ServiceBusMessage) -> None:
    """The subject says what to do: `fail` N times, or `wait` N seconds."""
    _note("begin", msg, **_seen(msg))
    order, _, number = (msg.subject or "").partition(" ")
    if order == "wait":
        await asyncio.sleep(float(number))
    if order == "fail" and (msg.delivery_count or 0) <= int(number):
        raise RuntimeError(f"failing delivery {msg.delivery_count}")
    _note("end", msg)


@app.service_bus_topic_trigger(
    arg_name="msg", topic_name="texts", subscription_name="sub", connection="SB"
)
def on_text(msg: func.ServiceBusMessage) -> None:
    """The subject may say `wait` N seconds."""
    _note("text", msg, **_seen(msg))
    order, _, number = (msg.subject or "").partition(" ")
    if order == "wait":
        time.sleep(float(number))
