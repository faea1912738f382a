"""Status documents and histories as clients see them."""

import json
from collections.abc import Iterable
from typing import Any

from local.durable.clock import parse_time, whole_seconds
from local.durable.events import Event, EventType, RuntimeStatus
from local.durable.instances import Instance

NAMES = {
    EventType.EXECUTION_STARTED: "ExecutionStarted",
    EventType.EXECUTION_COMPLETED: "ExecutionCompleted",
    EventType.EXECUTION_TERMINATED: "ExecutionTerminated",
    EventType.TASK_SCHEDULED: "TaskScheduled",
    EventType.TASK_COMPLETED: "TaskCompleted",
    EventType.TASK_FAILED: "TaskFailed",
    EventType.SUB_ORCHESTRATION_CREATED: "SubOrchestrationInstanceCreated",
    EventType.SUB_ORCHESTRATION_COMPLETED: "SubOrchestrationInstanceCompleted",
    EventType.SUB_ORCHESTRATION_FAILED: "SubOrchestrationInstanceFailed",
    EventType.TIMER_CREATED: "TimerCreated",
    EventType.TIMER_FIRED: "TimerFired",
    EventType.EVENT_RAISED: "EventRaised",
    EventType.EXECUTION_SUSPENDED: "ExecutionSuspended",
    EventType.EXECUTION_RESUMED: "ExecutionResumed",
}
SCHEDULED = (EventType.TASK_SCHEDULED, EventType.SUB_ORCHESTRATION_CREATED)
ANSWERS = {
    EventType.TASK_COMPLETED: EventType.TASK_SCHEDULED,
    EventType.TASK_FAILED: EventType.TASK_SCHEDULED,
    EventType.SUB_ORCHESTRATION_COMPLETED: EventType.SUB_ORCHESTRATION_CREATED,
    EventType.SUB_ORCHESTRATION_FAILED: EventType.SUB_ORCHESTRATION_CREATED,
}
HAS_RESULT = (
    EventType.EXECUTION_COMPLETED,
    EventType.TASK_COMPLETED,
    EventType.SUB_ORCHESTRATION_COMPLETED,
)
"""Their results are shown only when asked for; failures always are."""

INTERNAL = {"EventId", "IsPlayed", "TaskScheduledId", "TimerId"}
OF_THE_START = {"OrchestrationInstance", "ParentInstance", "Version", "Tags", "Name"}


def status_document(instance: Instance, *, show_input: bool = True) -> dict[str, Any]:
    """One instance as JSON, without its history."""
    document = {
        "name": instance.name,
        "instanceId": instance.instance_id,
        "runtimeStatus": instance.status.name,
        "input": _value(instance.input) if show_input else None,
        "customStatus": _value(instance.custom_status),
        "output": _value(instance.output),
        "createdTime": whole_seconds(parse_time(instance.created_at)),
        "lastUpdatedTime": whole_seconds(parse_time(instance.updated_at)),
    }
    if instance.parent_id:
        document["parentInstanceId"] = instance.parent_id
    return document


def history_document(
    history: Iterable[Event], *, show_input: bool = True, show_output: bool = False
) -> list[dict[str, Any]]:
    """A run's history as JSON.

    Names instead of numbers, no episodes, and what was scheduled is shown with its answer.
    """
    shown: dict[int, dict[str, Any]] = {}
    scheduled: dict[tuple[EventType, int], int] = {}
    for position, event in enumerate(history):
        kind = EventType(event["EventType"])
        if kind not in NAMES:
            continue
        shown[position] = _shown(kind, event, show_output=show_output)
        if kind in SCHEDULED:
            scheduled[kind, event["EventId"]] = position
        elif kind in ANSWERS:
            asked = scheduled.get((ANSWERS[kind], event["TaskScheduledId"]))
            if asked is not None:
                shown[position] |= _asked(shown.pop(asked))
    if not show_input:
        for one in shown.values():
            one.pop("Input", None)
    return list(shown.values())


def _shown(kind: EventType, event: Event, *, show_output: bool) -> dict[str, Any]:
    shown = {key: value for key, value in event.items() if key not in INTERNAL}
    shown["EventType"] = NAMES[kind]
    if kind is EventType.EXECUTION_STARTED:
        shown = {key: value for key, value in shown.items() if key not in OF_THE_START}
        shown["FunctionName"] = event["Name"]
    elif kind in SCHEDULED:
        del shown["Version"]
    elif kind in HAS_RESULT:
        result = shown.pop("Result")
        if show_output:
            shown["Result"] = _value(result)
    if kind is EventType.EXECUTION_COMPLETED:
        shown["OrchestrationStatus"] = RuntimeStatus(event["OrchestrationStatus"]).name
    return shown


def _asked(scheduled: dict[str, Any]) -> dict[str, Any]:
    asked = {
        "ScheduledTime": scheduled["Timestamp"].replace("Z", "+00:00"),
        "FunctionName": scheduled["Name"],
    }
    if "InstanceId" in scheduled:
        asked["InstanceId"] = scheduled["InstanceId"]
    return {**asked, "Input": None}


def _value(text: str | None) -> Any:
    """What a stored text stands for; one that is not JSON (a reason, a failure) is itself."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
