"""Histories and answers for tests, short to write."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from local.durable import events
from local.durable.actions import Answer, read_answer
from local.durable.events import Event, compact

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class EveryFunction:
    """An app that has every function but those in `missing`."""

    def __init__(self, missing: Sequence[str] = ()) -> None:
        self._missing = missing

    def has_orchestrator(self, name: str) -> bool:
        return name not in self._missing

    def has_activity(self, name: str) -> bool:
        return name not in self._missing

    def names(self) -> list[str]:
        return ["known"]


def started(input: str | None = None, **members: Any) -> Event:
    """The start of instance `it`, execution `run`."""
    of_it: dict[str, Any] = {"name": "orch", "instance_id": "it", "execution_id": "run"}
    return events.execution_started(NOON, input=input, **{**of_it, **members})


def episode(*new: Event, at: datetime = NOON) -> list[Event]:
    """One batch of events, as the worker gets it."""
    return [events.orchestrator_started(at), *new]


def answer(*actions: dict[str, Any], **members: Any) -> Answer:
    """What the worker answers."""
    document = {"isDone": False, "schemaVersion": 2, "actions": [list(actions)], **members}
    read = read_answer(compact(document))
    assert isinstance(read, Answer)
    return read


def activity(name: str = "act", **members: Any) -> dict[str, Any]:
    return {"actionType": 0, "functionName": name, "input": "1", **members}


def retried(name: str = "act", attempts: int = 2, milliseconds: int = 5000) -> dict[str, Any]:
    options = {
        "firstRetryIntervalInMilliseconds": milliseconds,
        "maxNumberOfAttempts": attempts,
    }
    return every(activity(name, actionType=1, retryOptions=options))


def child(name: str = "sub", instance_id: str | None = None) -> dict[str, Any]:
    return {"actionType": 2, "functionName": name, "input": "2", "instanceId": instance_id}


def timer(seconds: float = 60, cancelled: bool = False) -> dict[str, Any]:
    fire_at = (NOON + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"actionType": 5, "fireAt": fire_at, "isCanceled": cancelled}


def wait(name: str = "Go") -> dict[str, Any]:
    return {"actionType": 6, "externalEventName": name, "reason": "ExternalEvent"}


def continue_as_new(input: str = "3") -> dict[str, Any]:
    return {"actionType": 4, "input": input}


def first_of(*actions: dict[str, Any]) -> dict[str, Any]:
    return {"actionType": 11, "compoundActions": list(actions)}


def every(*actions: dict[str, Any]) -> dict[str, Any]:
    return {"actionType": 12, "compoundActions": list(actions)}


def scheduled(id: int, name: str = "act") -> Event:
    return events.task_scheduled(NOON, id, name)


def completed(id: int) -> Event:
    return events.task_completed(NOON, id, "1")


def failed(id: int) -> Event:
    return events.task_failed(NOON, id, "reason", "details")


def created(id: int, seconds: float = 60) -> Event:
    return events.timer_created(NOON, id, NOON + timedelta(seconds=seconds))


def fired(id: int, seconds: float = 60) -> Event:
    return events.timer_fired(NOON, id, NOON + timedelta(seconds=seconds))


def raised(name: str = "Go", input: str = "1") -> Event:
    return events.event_raised(NOON, name, input)


def suspended() -> Event:
    return events.execution_suspended(NOON, "hold on")


def resumed() -> Event:
    return events.execution_resumed(NOON, "go on")


def terminated(reason: str = "enough") -> Event:
    return events.execution_terminated(NOON, reason)
