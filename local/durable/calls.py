"""Calling the app's functions, and reading what comes of it."""

import json
import traceback

from local.durable.actions import Answer, Crash, read_answer, read_failure
from local.durable.activities import LeasedActivity
from local.durable.clock import Clock
from local.durable.events import Event, compact, task_completed, task_failed
from local.durable.failures import (
    activity_details,
    activity_reason,
    no_such_activity,
    no_such_orchestrator,
)
from local.durable.functions import FunctionFailed, Functions
from local.durable.orchestrator import Run, document


async def ask_orchestrator(functions: Functions, run: Run) -> Answer | Crash:
    """Call the orchestrator of a run; never raises but when cancelled."""
    if not functions.has_orchestrator(run.name):
        return Crash(no_such_orchestrator(run.name, functions.names()))
    try:
        text = await functions.run_orchestrator(run.name, run.instance_id, document(run))
    except Exception as error:
        failure = _failure(error)
        return read_failure(str(failure), failure.stack)
    return read_answer(text)


async def run_activity(functions: Functions, activity: LeasedActivity, clock: Clock) -> Event:
    """Call an activity; answers the event for its run, and never raises but when cancelled."""
    if not functions.has_activity(activity.name):
        reason = no_such_activity(activity.name)
        return task_failed(clock(), activity.task_id, reason, None)
    try:
        result = await functions.run_activity(activity.name, activity.instance_id, activity.input)
    except Exception as error:
        failure = _failure(error)
        return task_failed(
            clock(),
            activity.task_id,
            activity_reason(activity.name, str(failure)),
            activity_details(str(failure), failure.stack),
        )
    return task_completed(clock(), activity.task_id, _stored(result))


def _failure(error: Exception) -> FunctionFailed:
    # What isn't the worker's answer is the host's own trouble; it fails the call all the same, as a
    # worker that dies does.
    if isinstance(error, FunctionFailed):
        return error
    stack = "".join(traceback.format_exception(error))
    return FunctionFailed(f"{type(error).__name__}: {error}", stack)


def _stored(text: str) -> str | None:
    """A result as the history has it: without blanks, and None for `null`."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return None if value is None else compact(value)
