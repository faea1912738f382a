"""Functions get what the real host gave them: inputs and metadata of timers, messages, activities.

What HTTP functions get is compared where they are called: `tests/contract/host/test_recorded_http`.
"""

import base64
import json
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusReceivedMessage
from proton import Message, symbol, timestamp

from local.host.durable import WorkerFunctions
from local.host.functions import Function
from local.host.invoker import Invoker
from local.host.protocol import TypedData
from local.host.servicebus import make_call
from local.host.timers import ScheduleStatuses, Timer
from tests.recordings import replayed
from tests.unit.local.host.fakes import FakeClock, FakeWorker, make_function

CASES: dict[str, Any] = json.loads(
    Path(__file__).with_name("recorded_invocations.json").read_text()
)
SCHEDULES: dict[str, dict[str, Any]] = {
    "tick": {"schedule": "*/5 * * * * *"},
    "tickboot": {"schedule": "0 0 0 1 1 *", "runOnStartup": True},
    "tickfail": {"schedule": "0 0 0 1 1 *", "useMonitor": False},
}


@pytest.mark.parametrize("case", replayed("invocations", CASES))
async def test_a_function_gets_what_it_was_given(case: dict[str, Any], tmp_path: Path) -> None:
    # Given a recorded call of a timer, of a topic trigger or of an activity
    worker = FakeWorker(answer=TypedData(json="1"))
    invoker = Invoker(worker, None, {})  # type: ignore[arg-type]  # a stand-in worker

    # When the host makes that call
    await CALLS[case["kind"]](case, invoker, tmp_path)

    # Then the worker gets the same inputs and metadata
    [(_, inputs, metadata)] = worker.calls
    assert _shown(inputs) == _read(case["inputs"])
    assert _shown(metadata) == _read(case["metadata"])


async def fire_timer(case: dict[str, Any], invoker: Invoker, folder: Path) -> None:
    function = make_function("timerTrigger", "t", **SCHEDULES[case["function"]])
    at = f"{case['metadata']['TimerTrigger']['string']} +0000"
    clock = FakeClock(datetime.strptime(at, "%m/%d/%Y %H:%M:%S %z"))
    timer = Timer(function, ScheduleStatuses(folder / "timers.json"), invoker, clock)
    await timer.fire(past_due=timer.is_past_due())


async def deliver_message(case: dict[str, Any], invoker: Invoker, _: Path) -> None:
    binary = {"dataType": "BINARY"} if case["function"] == "on_bin" else {}
    function = make_function("serviceBusTrigger", "msg", **binary)
    assert await make_call(function, invoker)(_message(case))


async def call_activity(case: dict[str, Any], invoker: Invoker, _: Path) -> None:
    [(parameter, data)] = case["inputs"].items()
    instance_id = case["metadata"]["instanceId"]["string"]
    functions = WorkerFunctions([], [_activity(case["function"], parameter)], invoker)
    await functions.run_activity(case["function"], instance_id, data["string"])


CALLS = {"timer": fire_timer, "message": deliver_message, "activity": call_activity}


def _activity(name: str, parameter: str) -> Function:
    return make_function("activityTrigger", parameter, name)


def _message(case: dict[str, Any]) -> ServiceBusReceivedMessage:
    """The message from which the recorded metadata was made, as the client library decodes it."""
    texts = {name: data.get("string") for name, data in case["metadata"].items()}
    values = {n: json.loads(d["json"]) for n, d in case["metadata"].items() if "json" in d}
    [body] = _read(case["inputs"]).values()
    enqueued = datetime.fromisoformat(values["EnqueuedTime"])
    parts = {
        "id": texts["MessageId"],
        "content_type": texts.get("ContentType"),
        "correlation_id": texts.get("CorrelationId"),
        "subject": texts.get("Subject"),
        "address": texts.get("To"),
        "reply_to": texts.get("ReplyTo"),
        "reply_to_group_id": texts.get("ReplyToSessionId"),
        "properties": values["ApplicationProperties"],
        "delivery_count": values["DeliveryCount"] - 1,
    }
    if not values["ExpiresAt"].startswith("9999"):
        parts["ttl"] = (datetime.fromisoformat(values["ExpiresAt"]) - enqueued).total_seconds()
    message = Message(inferred=True, body=body.encode() if isinstance(body, str) else body, **parts)
    message.instructions = {symbol("x-opt-lock-token"): UUID(texts["LockToken"])}
    message.annotations = {
        symbol("x-opt-sequence-number"): values["SequenceNumber"],
        symbol("x-opt-enqueued-time"): timestamp(int(enqueued.timestamp() * 1000)),
    }
    return ServiceBusReceivedMessage.from_bytes(bytes(message.encode()))


def _read(recorded: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Values as they are meant: bytes decoded, JSON read."""
    decode = {"string": str, "json": json.loads, "bytes(base64)": base64.b64decode}
    return {n: decode[kind](text) for n, data in recorded.items() for kind, text in data.items()}


def _shown(given: Any) -> dict[str, Any]:
    return {name: _value(data) for name, data in given.items()}


def _value(data: TypedData) -> Any:
    kind = data.WhichOneof("data")
    return json.loads(data.json or "") if kind == "json" else getattr(data, str(kind))
