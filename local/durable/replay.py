"""What a history and the worker's actions mean together.

The worker returns all actions of a run. The ones that are new are found by replaying them against
the history, as the worker replayed its own code: event by event, one action after the other, going
on when the one before is done. A run is over when its orchestrator is, and nothing that it asked
for (an activity, a child, a timer that was not cancelled) is outstanding.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from local.durable.actions import Answer, Crash
from local.durable.clock import parse_time
from local.durable.context import Context, NonDeterministic, Scheduled
from local.durable.events import Event, EventType, RuntimeStatus
from local.durable.failures import orchestrator_details, orchestrator_failure
from local.durable.functions import KnownFunctions
from local.durable.script import Script

FAILURES = (EventType.TASK_FAILED, EventType.SUB_ORCHESTRATION_FAILED)
ENDS_SUSPENSION = (EventType.EXECUTION_RESUMED, EventType.EXECUTION_TERMINATED)


@dataclass(frozen=True)
class Ending:
    """How a run ends.

    `result` is the output or the next run's input as JSON text, or the plain text of a failure or
    of a reason; `details` go to a parent.
    """

    status: RuntimeStatus
    result: str | None
    details: str | None = None


@dataclass(frozen=True)
class Decision:
    """What is to be stored and sent.

    `scheduled` is in the order of ids, `next_id` the first free one. `carried` are the events that
    go on to the next run when this one continues as new. `refused` are lines for the log.
    """

    scheduled: list[Scheduled]
    next_id: int
    cancelled_timers: set[int]
    ending: Ending | None
    carried: list[Event]
    suspended: bool
    refused: list[str]


def decide(
    started: Event, history: Iterable[Event], answer: Answer | Crash, functions: KnownFunctions
) -> Decision:
    """Replay `answer` against the whole history, old events and new ones."""
    return _Replay(started, answer, functions).decide(history)


class _Replay:
    def __init__(self, started: Event, answer: Answer | Crash, functions: KnownFunctions) -> None:
        self._name = started["Name"]
        self._answer = answer
        execution_id = started["OrchestrationInstance"]["ExecutionId"]
        self._context = Context(execution_id, parse_time(started["Timestamp"]))
        actions = answer.actions if isinstance(answer, Answer) else ()
        self._script = Script(actions, self._context, functions)
        self._suspended = False
        self._held: list[Event] = []
        self._carried: list[Event] = []
        self._ending: Ending | None = None

    def decide(self, history: Iterable[Event]) -> Decision:
        try:
            for event in history:
                self._process(event)
            if not self._ending and not self._context.open:
                self._ending = self._conclude()
        except NonDeterministic as error:
            text = f"Non-Deterministic workflow detected: {error}"
            self._ending = self._ending or Ending(RuntimeStatus.Failed, text)
        return Decision(
            scheduled=[self._context.new[id] for id in sorted(self._context.new)],
            next_id=self._context.next_id,
            cancelled_timers=self._context.cancelled_timers,
            ending=self._ending,
            carried=self._context.unclaimed_events() + self._carried,
            suspended=self._suspended,
            refused=self._script.refused,
        )

    def _conclude(self) -> Ending | None:
        answer = self._answer
        if isinstance(answer, Crash):
            return self._failed(answer.text)
        if self._script.problem:
            return self._failed(self._script.problem)
        if not self._script.finished:
            return None
        if answer.error:
            return self._failed(answer.error, answer.stack)
        if self._script.continue_with is not None:
            return Ending(RuntimeStatus.ContinuedAsNew, self._script.continue_with)
        return Ending(RuntimeStatus.Completed, answer.output) if answer.is_done else None

    def _failed(self, text: str, stack: str = "") -> Ending:
        return Ending(
            RuntimeStatus.Failed,
            orchestrator_failure(self._name, text),
            orchestrator_details(text, stack),
        )

    def _process(self, event: Event) -> None:
        kind = EventType(event["EventType"])
        if kind is EventType.ORCHESTRATOR_STARTED:
            self._context.now = parse_time(event["Timestamp"])
        elif self._suspended and kind not in ENDS_SUSPENSION:
            self._held.append(event)
        elif handle := _HANDLERS.get(kind):
            handle(self, event)

    def _begin(self, event: Event) -> None:
        if isinstance(self._answer, Answer):
            self._script.advance()

    def _terminate(self, event: Event) -> None:
        self._ending = self._ending or Ending(RuntimeStatus.Terminated, event["Input"])

    def _suspend(self, event: Event) -> None:
        self._suspended = True
        self._context.hold()

    def _resume(self, event: Event) -> None:
        self._suspended = False
        self._context.release()
        held, self._held = self._held, []
        for one in held:
            if one["EventType"] != EventType.EXECUTION_SUSPENDED:
                self._process(one)

    def _raise(self, event: Event) -> None:
        if self._script.continue_with is None:
            self._context.raise_event(event)
        else:
            self._carried.append(event)

    def _settle(self, event: Event) -> None:
        failed = event["EventType"] in FAILURES
        id = event["TimerId" if "TimerId" in event else "TaskScheduledId"]
        self._context.settle(id, failed=failed)

    def _confirm(self, event: Event) -> None:
        self._context.confirm(event)


_HANDLERS: dict[EventType, Callable[[_Replay, Event], None]] = {
    EventType.EXECUTION_STARTED: _Replay._begin,
    EventType.EXECUTION_TERMINATED: _Replay._terminate,
    EventType.EXECUTION_SUSPENDED: _Replay._suspend,
    EventType.EXECUTION_RESUMED: _Replay._resume,
    EventType.EVENT_RAISED: _Replay._raise,
    EventType.TASK_COMPLETED: _Replay._settle,
    EventType.TASK_FAILED: _Replay._settle,
    EventType.SUB_ORCHESTRATION_COMPLETED: _Replay._settle,
    EventType.SUB_ORCHESTRATION_FAILED: _Replay._settle,
    EventType.TIMER_FIRED: _Replay._settle,
    EventType.TASK_SCHEDULED: _Replay._confirm,
    EventType.SUB_ORCHESTRATION_CREATED: _Replay._confirm,
    EventType.TIMER_CREATED: _Replay._confirm,
}
