"""One episode of an orchestration: what the worker is asked, and what follows from its answer."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from local.durable import events
from local.durable.actions import Answer, Crash
from local.durable.context import ActivityCall, ChildStart, Scheduled, TimerSet
from local.durable.events import Event, EventType, RuntimeStatus, compact
from local.durable.functions import KnownFunctions
from local.durable.replay import Decision, Ending, decide

PROTOCOL = {
    "sourceInstanceId": None,
    "upperSchemaVersion": 1,
    "upperSchemaVersionNew": 3,
    "longRunningTimerIntervalDuration": "3.00:00:00",
    "maximumShortTimerDuration": "6.00:00:00",
    "defaultHttpAsyncRequestSleepTimeMillseconds": 30000,
}
REASONS = (EventType.EXECUTION_SUSPENDED, EventType.EXECUTION_RESUMED)


@dataclass(frozen=True)
class Run:
    """One execution of an instance: the event that started it, what is stored, what is new."""

    started: Event
    past: Sequence[Event]
    new: Sequence[Event]

    @property
    def name(self) -> str:
        """The orchestrator, as the client or the parent wrote it."""
        return str(self.started["Name"])

    @property
    def instance_id(self) -> str:
        """The instance."""
        return str(self.started["OrchestrationInstance"]["InstanceId"])

    @property
    def execution_id(self) -> str:
        """This execution of it."""
        return str(self.started["OrchestrationInstance"]["ExecutionId"])

    @property
    def input(self) -> str | None:
        """JSON text."""
        text: str | None = self.started["Input"]
        return text


@dataclass(frozen=True)
class Message:
    """An event on its way to an instance; without an execution id any run of it takes it."""

    instance_id: str
    execution_id: str | None
    event: Event


@dataclass(frozen=True)
class Outcome:
    """What one answer of the worker comes to.

    `appended` goes to the stored history of the run. `output` is JSON text or plain text.
    `successor` is the next run when this one continues as new. `refused` are lines for the log.
    """

    run: Run
    appended: list[Event]
    status: RuntimeStatus
    output: str | None
    custom_status: str | None
    activities: list[ActivityCall]
    timers: list[TimerSet]
    cancelled_timers: set[int]
    children: list[Event]
    reply: Message | None
    successor: Run | None
    refused: list[str]


def document(run: Run) -> str:
    """What the worker gets: one JSON text."""
    input = run.input or "null"
    parent = run.started["ParentInstance"]
    head = {
        "history": [*run.past, *run.new],
        "instanceId": run.instance_id,
        "isReplaying": run.started["IsPlayed"],
        "parentInstanceId": parent and parent["OrchestrationInstance"]["InstanceId"],
        **PROTOCOL,
    }
    return f'{compact(head)[:-1]},"input":{input}}}'


def conclude(run: Run, answer: Answer | Crash, functions: KnownFunctions, now: datetime) -> Outcome:
    """Decide what one episode comes to; `now` is the time of what it schedules."""
    decision = decide(run.started, [*run.past, *run.new], answer, functions)
    ending = decision.ending
    continues = ending is not None and ending.status is RuntimeStatus.ContinuedAsNew
    return Outcome(
        run=run,
        appended=_appended(run, decision, now),
        status=_status(decision),
        output=ending.result if ending else _reason(run),
        custom_status=answer.custom_status if isinstance(answer, Answer) else None,
        activities=[one for one in decision.scheduled if isinstance(one, ActivityCall)],
        timers=[
            one for one in decision.scheduled if isinstance(one, TimerSet) and not one.cancelled
        ],
        cancelled_timers=decision.cancelled_timers,
        children=[
            _child(run, one, now) for one in decision.scheduled if isinstance(one, ChildStart)
        ],
        reply=_reply(run, ending, now) if ending and not continues else None,
        successor=_successor(run, ending, decision.carried, now) if ending and continues else None,
        refused=decision.refused,
    )


def _status(decision: Decision) -> RuntimeStatus:
    if decision.ending:
        return decision.ending.status
    return RuntimeStatus.Suspended if decision.suspended else RuntimeStatus.Running


def _reason(run: Run) -> str | None:
    reasons = [event["Reason"] for event in run.new if event["EventType"] in REASONS]
    return reasons[-1] if reasons else None


def _appended(run: Run, decision: Decision, now: datetime) -> list[Event]:
    ending = decision.ending
    appended = [events.played(event) for event in run.new]
    appended += [_scheduled(one, now) for one in decision.scheduled]
    if ending and ending.status.is_final:
        appended.append(
            events.execution_completed(now, decision.next_id, ending.status, ending.result)
        )
    # A run that continues another begins with an episode that is closed already.
    if appended[-1]["EventType"] != EventType.ORCHESTRATOR_COMPLETED:
        appended.append(events.orchestrator_completed(now))
    return appended


def _scheduled(one: Scheduled, now: datetime) -> Event:
    match one:
        case ActivityCall():
            return events.task_scheduled(now, one.id, one.name)
        case TimerSet():
            return events.timer_created(now, one.id, one.fire_at)
        case ChildStart():
            return events.sub_orchestration_created(now, one.id, one.name, one.instance_id)


def _child(run: Run, child: ChildStart, now: datetime) -> Event:
    return events.execution_started(
        now,
        name=child.name,
        instance_id=child.instance_id,
        execution_id=uuid.uuid4().hex,
        input=compact(child.input),
        parent=events.parent_instance(run.name, run.instance_id, run.execution_id, child.id),
    )


def _reply(run: Run, ending: Ending, now: datetime) -> Message | None:
    parent = run.started["ParentInstance"]
    if not parent:
        return None
    task_id = parent["TaskScheduleId"]
    event = (
        events.sub_orchestration_completed(now, task_id, ending.result)
        if ending.status is RuntimeStatus.Completed
        else events.sub_orchestration_failed(now, task_id, ending.result, ending.details)
    )
    instance = parent["OrchestrationInstance"]
    return Message(instance["InstanceId"], instance["ExecutionId"], event)


def _successor(run: Run, ending: Ending, carried: Sequence[Event], now: datetime) -> Run:
    started = events.execution_started(
        now,
        name=run.name,
        instance_id=run.instance_id,
        execution_id=uuid.uuid4().hex,
        input=compact(ending.result),
        parent=run.started["ParentInstance"],
    )
    first = [events.orchestrator_started(now), started]
    fresh = [{**event, "IsPlayed": False} for event in carried]
    return Run(started, past=[], new=[*first, *fresh, events.orchestrator_completed(now)])
