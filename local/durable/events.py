"""History events, member for member as the durable protocol has them.

Timestamps are when a thing happened, except for TimerFired, which carries the time its timer was
made. `IsPlayed` is false until an episode that saw the event has been stored.
"""

import json
from datetime import datetime
from enum import IntEnum
from typing import Any

from local.durable.clock import timestamp

type Event = dict[str, Any]


class EventType(IntEnum):
    """The numbers that the protocol uses."""

    EXECUTION_STARTED = 0
    EXECUTION_COMPLETED = 1
    EXECUTION_TERMINATED = 3
    TASK_SCHEDULED = 4
    TASK_COMPLETED = 5
    TASK_FAILED = 6
    SUB_ORCHESTRATION_CREATED = 7
    SUB_ORCHESTRATION_COMPLETED = 8
    SUB_ORCHESTRATION_FAILED = 9
    TIMER_CREATED = 10
    TIMER_FIRED = 11
    ORCHESTRATOR_STARTED = 12
    ORCHESTRATOR_COMPLETED = 13
    EVENT_RAISED = 15
    EXECUTION_SUSPENDED = 19
    EXECUTION_RESUMED = 20


class RuntimeStatus(IntEnum):
    """What an instance is doing, with the protocol's numbers; Canceled is never used."""

    Running = 0
    Completed = 1
    ContinuedAsNew = 2
    Failed = 3
    Canceled = 4
    Terminated = 5
    Pending = 6
    Suspended = 7

    @property
    def is_final(self) -> bool:
        """Whether nothing more can happen to the instance."""
        return self in FINAL_STATUSES


FINAL_STATUSES = (RuntimeStatus.Completed, RuntimeStatus.Failed, RuntimeStatus.Terminated)


def compact(value: Any) -> str:
    """JSON without blanks, non-ASCII as it is."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def played(event: Event) -> Event:
    """The event as it is stored once an episode has seen it; OrchestratorStarted never counts."""
    if event["EventType"] == EventType.ORCHESTRATOR_STARTED:
        return event
    return {**event, "IsPlayed": True}


def orchestrator_started(at: datetime) -> Event:
    """An episode begins; its timestamp is the orchestrator's current time."""
    return _event(EventType.ORCHESTRATOR_STARTED, at)


def orchestrator_completed(at: datetime) -> Event:
    """An episode ends."""
    return _event(EventType.ORCHESTRATOR_COMPLETED, at)


def execution_started(
    at: datetime,
    *,
    name: str,
    instance_id: str,
    execution_id: str,
    input: str | None,
    parent: Event | None = None,
    generation: int | None = None,
) -> Event:
    """A run begins; `input` is JSON text, `generation` counts the runs that a client started."""
    return _event(
        EventType.EXECUTION_STARTED,
        at,
        OrchestrationInstance={"InstanceId": instance_id, "ExecutionId": execution_id},
        ParentInstance=parent,
        Name=name,
        Version=None,
        Input=input,
        Tags=None,
        Correlation=None,
        ParentTraceContext=None,
        ScheduledStartTime=None,
        Generation=generation,
        GenerateNewTrace=False,
    )


def parent_instance(name: str, instance_id: str, execution_id: str, task_id: int) -> Event:
    """Who waits for a sub-orchestration, and under which id."""
    return {
        "Name": name,
        "OrchestrationInstance": {"InstanceId": instance_id, "ExecutionId": execution_id},
        "TaskScheduleId": task_id,
        "Version": None,
    }


def execution_completed(
    at: datetime, event_id: int, status: RuntimeStatus, result: str | None
) -> Event:
    """A run is over; `result` is JSON text, or the plain text of a failure or a reason."""
    return _event(
        EventType.EXECUTION_COMPLETED,
        at,
        event_id,
        OrchestrationStatus=status,
        Result=result,
        FailureDetails=None,
    )


def execution_terminated(at: datetime, reason: str | None) -> Event:
    """A client ends the run."""
    return _event(EventType.EXECUTION_TERMINATED, at, Input=reason)


def execution_suspended(at: datetime, reason: str | None) -> Event:
    """A client halts the run."""
    return _event(EventType.EXECUTION_SUSPENDED, at, Reason=reason)


def execution_resumed(at: datetime, reason: str | None) -> Event:
    """A client lets a halted run go on."""
    return _event(EventType.EXECUTION_RESUMED, at, Reason=reason)


def event_raised(at: datetime, name: str, input: str) -> Event:
    """A client sent an external event; `input` is JSON text."""
    return _event(EventType.EVENT_RAISED, at, Name=name, Input=input, ParentTraceContext=None)


def task_scheduled(at: datetime, event_id: int, name: str) -> Event:
    """An activity is to run; its input travels apart from the history."""
    return _event(
        EventType.TASK_SCHEDULED,
        at,
        event_id,
        Name=name,
        Version="",
        Input=None,
        ParentTraceContext=None,
        Tags=None,
    )


def task_completed(at: datetime, task_id: int, result: str | None) -> Event:
    """An activity returned; `result` is JSON text."""
    return _event(EventType.TASK_COMPLETED, at, TaskScheduledId=task_id, Result=result)


def task_failed(at: datetime, task_id: int, reason: str, details: str | None) -> Event:
    """An activity failed."""
    return _failed(EventType.TASK_FAILED, at, task_id, reason, details)


def sub_orchestration_created(at: datetime, event_id: int, name: str, instance_id: str) -> Event:
    """A child is to start; its input travels apart from the history."""
    return _event(
        EventType.SUB_ORCHESTRATION_CREATED,
        at,
        event_id,
        Name=name,
        Version=None,
        InstanceId=instance_id,
        Input=None,
        ClientSpanId=None,
        Tags=None,
    )


def sub_orchestration_completed(at: datetime, task_id: int, result: str | None) -> Event:
    """A child returned; `result` is JSON text."""
    return _event(EventType.SUB_ORCHESTRATION_COMPLETED, at, TaskScheduledId=task_id, Result=result)


def sub_orchestration_failed(
    at: datetime, task_id: int, reason: str | None, details: str | None
) -> Event:
    """A child failed or was terminated."""
    return _failed(EventType.SUB_ORCHESTRATION_FAILED, at, task_id, reason, details)


def timer_created(at: datetime, event_id: int, fire_at: datetime) -> Event:
    """A timer is set."""
    return _event(EventType.TIMER_CREATED, at, event_id, FireAt=timestamp(fire_at))


def timer_fired(at: datetime, timer_id: int, fire_at: datetime) -> Event:
    """A timer's time has come; `at` is when the timer was made."""
    return _event(EventType.TIMER_FIRED, at, TimerId=timer_id, FireAt=timestamp(fire_at))


def _failed(
    kind: EventType, at: datetime, task_id: int, reason: str | None, details: str | None
) -> Event:
    return _event(
        kind, at, TaskScheduledId=task_id, Reason=reason, Details=details, FailureDetails=None
    )


def _event(kind: EventType, at: datetime, event_id: int = -1, **members: Any) -> Event:
    return {
        "EventType": int(kind),
        **members,
        "EventId": event_id,
        "IsPlayed": False,
        "Timestamp": timestamp(at),
    }
