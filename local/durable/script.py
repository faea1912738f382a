"""Asking for a run's actions, one after the other, as far as the history allows."""

from collections.abc import Sequence
from datetime import timedelta

from local.durable.actions import Action, ActionType, Retry
from local.durable.context import Context
from local.durable.failures import no_such_activity, no_such_orchestrator
from local.durable.functions import KnownFunctions
from local.durable.tasks import Task, settled, when_all, when_any

ACTIVITY_CALLS = (ActionType.CALL_ACTIVITY, ActionType.CALL_ACTIVITY_WITH_RETRY)
UNSUPPORTED = {
    ActionType.CALL_ENTITY: "call_entity",
    ActionType.SIGNAL_ENTITY: "signal_entity",
    ActionType.SCHEDULED_SIGNAL_ENTITY: "signal_entity",
    ActionType.CALL_HTTP: "call_http",
}


class Unsupported(Exception):
    """The orchestrator asked for something that this engine doesn't do."""


class Script:
    """The actions of a run.

    `finished` once every action has been asked for and the last awaited one is done; `problem` when
    one can't be done at all. `refused` are texts about calls of functions that don't exist: as on
    the real host these never end, and the run waits for ever.
    """

    def __init__(
        self, actions: Sequence[Action], context: Context, functions: KnownFunctions
    ) -> None:
        self._actions = iter(actions)
        self._context = context
        self._functions = functions
        self.finished = False
        self.problem: str | None = None
        self.continue_with: str | None = None
        self.refused: list[str] = []

    def advance(self) -> None:
        """Ask for one action after the other, up to the first that isn't done yet."""
        try:
            for action in self._actions:
                task = self._ask(action)
                if not task.done:
                    task.then(self.advance)
                    return
            self.finished = True
        except Unsupported as problem:
            self.problem = str(problem)

    def _ask(self, action: Action) -> Task:
        match action.type:
            case ActionType.WHEN_ALL:
                return when_all([self._ask(child) for child in action.children])
            case ActionType.WHEN_ANY:
                return when_any([self._ask(child) for child in action.children])
            case ActionType.WAIT_FOR_EXTERNAL_EVENT:
                return self._context.wait_for_event(action.name)
            case ActionType.CREATE_TIMER:
                return self._context.set_timer(action.fire_at, cancelled=action.cancelled)
            case ActionType.CONTINUE_AS_NEW:
                self.continue_with = action.input
                return settled()
            case _:
                return self._call(action)

    def _call(self, action: Action) -> Task:
        if action.type in UNSUPPORTED:
            name = UNSUPPORTED[action.type]
            raise Unsupported(f"{name} is not supported by the embedded durable engine")
        refusal = self._refusal(action)
        if refusal:
            self.refused.append(refusal)
            return settled(failed=True)
        return self._start_with_retry(action, action.retry) if action.retry else self._start(action)

    def _refusal(self, action: Action) -> str | None:
        if action.type in ACTIVITY_CALLS:
            known = self._functions.has_activity(action.name)
            return None if known else no_such_activity(action.name)
        if not self._functions.has_orchestrator(action.name):
            return no_such_orchestrator(action.name, self._functions.names())
        return None

    def _start(self, action: Action) -> Task:
        if action.type in ACTIVITY_CALLS:
            return self._context.call_activity(action.name, action.input)
        return self._context.start_child(action.name, action.input, action.instance_id)

    def _start_with_retry(self, action: Action, retry: Retry) -> Task:
        whole = Task()

        def attempt(number: int) -> None:
            call = self._start(action)
            call.then(lambda: answered(number, call))

        def answered(number: int, call: Task) -> None:
            if not call.failed:
                whole.settle()
                return
            # The real host sets a timer behind the last attempt too, due at once; the worker counts
            # its id.
            is_last = number >= retry.attempts
            pause = timedelta(0) if is_last else retry.interval
            timer = self._context.set_timer(self._context.now + pause)
            timer.then(lambda: whole.settle(failed=True) if is_last else attempt(number + 1))

        attempt(1)
        return whole
