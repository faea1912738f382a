"""Reading what the worker answers to an orchestrator call.

The answer holds every action since the start of the run, in one list; a failed call carries the
same document in its message, behind a marker.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any

from local.durable.clock import parse_time
from local.durable.events import compact
from local.durable.failures import aggregate, worker_failure

OUT_OF_PROC_MARKER = "$OutOfProcData$:"
NEVER = datetime.max.replace(tzinfo=UTC)


class ActionType(IntEnum):
    """The numbers that the protocol uses."""

    CALL_ACTIVITY = 0
    CALL_ACTIVITY_WITH_RETRY = 1
    CALL_SUB_ORCHESTRATOR = 2
    CALL_SUB_ORCHESTRATOR_WITH_RETRY = 3
    CONTINUE_AS_NEW = 4
    CREATE_TIMER = 5
    WAIT_FOR_EXTERNAL_EVENT = 6
    CALL_ENTITY = 7
    CALL_HTTP = 8
    SIGNAL_ENTITY = 9
    SCHEDULED_SIGNAL_ENTITY = 10
    WHEN_ANY = 11
    WHEN_ALL = 12


@dataclass(frozen=True)
class Retry:
    """Retry options of a call: a fixed pause, and how often it is tried in all."""

    interval: timedelta
    attempts: int


@dataclass(frozen=True)
class Action:
    """One thing that the orchestrator asked for.

    `name` is a function or an event, `input` JSON text; `fire_at` belongs to timers only.
    """

    type: ActionType
    name: str = ""
    input: str = "null"
    instance_id: str | None = None
    fire_at: datetime = NEVER
    cancelled: bool = False
    retry: Retry | None = None
    children: tuple["Action", ...] = ()


@dataclass(frozen=True)
class Answer:
    """What the orchestrator has done so far.

    `output` and `custom_status` are JSON text or None. `error` is the text of the exception that
    the orchestrator ended with, `stack` where it came from.
    """

    actions: tuple[Action, ...]
    is_done: bool = False
    output: str | None = None
    custom_status: str | None = None
    error: str | None = None
    stack: str = ""


@dataclass(frozen=True)
class Crash:
    """The call itself failed, so that nothing is known of the orchestrator's actions."""

    text: str


def read_answer(text: str) -> Answer | Crash:
    """Read a successful answer; one that breaks the protocol is a Crash that says how."""
    try:
        return _answer(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        return Crash(f"The worker's answer breaks the durable protocol: {error!r}")


def read_failure(message: str, stack: str) -> Answer | Crash:
    """Read a failed call: an orchestrator that raised, or else a Crash.

    One that returned something that isn't JSON counts as a Crash too: the real host doesn't look at
    the actions of an orchestrator that is done and failed at once.
    """
    for document in _documents(message):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            answer = _answer(document, stack)
            if not answer.is_done:
                return answer
    return Crash(aggregate(worker_failure(message, stack)))


def _documents(message: str) -> Iterator[Any]:
    """The JSON values behind each marker, the last one first.

    The text of the exception stands before the document and can hold a marker too, that of a child;
    in the document itself the text is quoted, so that no JSON begins there.
    """
    start = message.rfind(OUT_OF_PROC_MARKER)
    while start >= 0:
        with contextlib.suppress(ValueError):
            yield json.JSONDecoder().raw_decode(message, start + len(OUT_OF_PROC_MARKER))[0]
        start = message.rfind(OUT_OF_PROC_MARKER, 0, start)


def _answer(document: Any, stack: str = "") -> Answer:
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    if document.get("schemaVersion") not in (1, 2):
        raise ValueError(f"schemaVersion {document.get('schemaVersion')!r} is not supported")
    (actions,) = document["actions"]
    return Answer(
        actions=tuple(_action(action) for action in actions),
        is_done=bool(document["isDone"]),
        output=_json_text(document.get("output")),
        custom_status=_json_text(document.get("customStatus")),
        error=document.get("error"),
        stack=stack,
    )


def _action(document: dict[str, Any]) -> Action:
    type = ActionType(document["actionType"])
    if type is ActionType.CREATE_TIMER:
        fire_at = parse_time(document["fireAt"])
        return Action(type, fire_at=fire_at, cancelled=document["isCanceled"])
    retry = document.get("retryOptions")
    return Action(
        type,
        name=document.get("functionName") or document.get("externalEventName") or "",
        input=document.get("input") or "null",
        instance_id=document.get("instanceId"),
        retry=_retry(retry) if retry else None,
        children=tuple(_action(child) for child in document.get("compoundActions", ())),
    )


def _retry(document: dict[str, Any]) -> Retry:
    return Retry(
        interval=timedelta(milliseconds=document["firstRetryIntervalInMilliseconds"]),
        attempts=document["maxNumberOfAttempts"],
    )


def _json_text(value: Any) -> str | None:
    return None if value is None else compact(value)
