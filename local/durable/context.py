"""What an orchestration asks for in the course of a replay, and what of it is outstanding."""

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from local.durable.events import Event, EventType
from local.durable.tasks import Task, settled


@dataclass(frozen=True)
class ActivityCall:
    """An activity to run; `input` is JSON text."""

    id: int
    name: str
    input: str


@dataclass(frozen=True)
class TimerSet:
    """A timer to fire; `cancelled` when it has been given up already."""

    id: int
    fire_at: datetime
    cancelled: bool


@dataclass(frozen=True)
class ChildStart:
    """A sub-orchestration to start; `input` is JSON text."""

    id: int
    name: str
    input: str
    instance_id: str


type Scheduled = ActivityCall | TimerSet | ChildStart


class NonDeterministic(Exception):
    """The actions don't fit the history: the orchestrator was changed, or isn't deterministic."""


class Context:
    """Hands out ids in the order of asking, as the worker does, so that they agree.

    `now` is the orchestrator's time, `new` what the history doesn't show yet, `open` what has not
    been answered.
    """

    def __init__(self, execution_id: str, now: datetime) -> None:
        self._execution_id = execution_id
        self.now = now
        self.next_id = 0
        self.new: dict[int, Scheduled] = {}
        self.open: dict[int, Task] = {}
        self.cancelled_timers: set[int] = set()
        self._held: dict[int, Scheduled] = {}
        self._waiting: dict[str, list[Task]] = defaultdict(list)
        self._early: dict[str, deque[Event]] = defaultdict(deque)

    def call_activity(self, name: str, input: str) -> Task:
        """Run an activity."""
        return self._schedule(lambda id: ActivityCall(id, name, input))

    def start_child(self, name: str, input: str, instance_id: str | None) -> Task:
        """Start a sub-orchestration, by default under an id made of this run's and the task's."""
        return self._schedule(
            lambda id: ChildStart(id, name, input, instance_id or f"{self._execution_id}:{id}")
        )

    def set_timer(self, fire_at: datetime, *, cancelled: bool = False) -> Task:
        """Set a timer; a cancelled one is remembered, but nothing waits for it."""
        task = self._schedule(lambda id: TimerSet(id, fire_at, cancelled))
        if cancelled:
            id = self.next_id - 1
            self.cancelled_timers.add(id)
            self.settle(id)
        return task

    def wait_for_event(self, name: str) -> Task:
        """Wait for an external event; one that came early is taken, the oldest first."""
        early = self._early[name]
        if early:
            early.popleft()
            return settled()
        task = Task()
        self._waiting[name].append(task)
        return task

    def raise_event(self, event: Event) -> None:
        """Give an external event to the youngest wait for its name, or keep it."""
        waiting = self._waiting[event["Name"]]
        if waiting:
            waiting.pop().settle()
        else:
            self._early[event["Name"]].append(event)

    def unclaimed_events(self) -> list[Event]:
        """The events that nothing has waited for."""
        return [event for early in self._early.values() for event in early]

    def settle(self, id: int, *, failed: bool = False) -> None:
        """Something asked for is done; second answers and cancelled timers are ignored."""
        task = self.open.pop(id, None)
        if task:
            task.settle(failed=failed)

    def confirm(self, event: Event) -> None:
        """The history shows that something was scheduled before: so it is not new.

        Raises NonDeterministic when this replay asked for something else under that id.
        """
        _compare(event, self.new.get(event["EventId"]))
        del self.new[event["EventId"]]

    def hold(self) -> None:
        """While a run is suspended nothing new is scheduled."""
        self._held, self.new = self.new, {}

    def release(self) -> None:
        """The run goes on: what was held back is scheduled."""
        self.new |= self._held
        self._held = {}

    def _schedule(self, make: Callable[[int], Scheduled]) -> Task:
        id = self.next_id
        self.next_id += 1
        self.new[id] = make(id)
        task = self.open[id] = Task()
        return task


_KINDS: dict[int, tuple[type[Scheduled], str]] = {
    EventType.TASK_SCHEDULED: (ActivityCall, "an activity task"),
    EventType.SUB_ORCHESTRATION_CREATED: (ChildStart, "a sub-orchestration task"),
    EventType.TIMER_CREATED: (TimerSet, "a timer task"),
}
_NAMES_OF_ACTIONS = {
    ActivityCall: "ScheduleTaskOrchestratorAction",
    ChildStart: "CreateSubOrchestrationAction",
    TimerSet: "CreateTimerOrchestratorAction",
}
_WAS_IT_CHANGED = (
    "Was a change made to the orchestrator code after this instance had already started running?"
)


def _compare(event: Event, asked: Scheduled | None) -> None:
    kind, noun = _KINDS[event["EventType"]]
    before = f"A previous execution of this orchestration scheduled {noun} with sequence"
    name = event.get("Name")
    if asked is None:
        raise NonDeterministic(
            f"{before} ID {event['EventId']}{_named(event)}, but the current replay execution "
            f"hasn't (yet?) scheduled this task. {_WAS_IT_CHANGED}"
        )
    named = f" named '{name}'" if name else ""
    if not isinstance(asked, kind):
        raise NonDeterministic(
            f"{before} number {event['EventId']}{named}, but the current orchestration replay "
            f"instead produced a {_NAMES_OF_ACTIONS[type(asked)]} action with this sequence "
            f"number. {_WAS_IT_CHANGED}"
        )
    if not isinstance(asked, TimerSet) and asked.name.lower() != str(name).lower():
        raise NonDeterministic(
            f"{before} number {event['EventId']}{named}, but the current orchestration replay "
            f"instead scheduled one named '{asked.name}' with this sequence number. "
            f"{_WAS_IT_CHANGED}"
        )


def _named(event: Event) -> str:
    if event["EventType"] == EventType.TIMER_CREATED:
        return ""
    return f" and name '{event['Name']}' (version '{event['Version'] or ''}')"
