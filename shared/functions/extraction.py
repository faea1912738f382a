"""The orchestration of one job: it only decides and waits. Its instance id is the JobID.

What it decides here is recorded in histories: change the order of its calls and waits only in a
way that replays the histories under tests/.
"""

import json
from collections.abc import Generator
from datetime import datetime, timedelta
from typing import Any

import azure.durable_functions as df

from shared.domain.jobs import JobStatus
from shared.domain.tracking import wake_up
from shared.functions.names import CALL, ENDED, EXPIRE, ORCHESTRATION, STARTED

bp = df.Blueprint()

ROUNDS = 50
"""Activities before the orchestration continues as new, so that its history stays short."""
PAUSE_AFTER_FAILURE = timedelta(seconds=30)
"""When an activity that failed (a part of ours is down) is tried again."""


@bp.orchestration_trigger(context_name="context", orchestration=ORCHESTRATION)
def extraction(context: df.DurableOrchestrationContext) -> Generator[Any, Any, str | None]:
    """Call the extractor until it has the job, then wait for its end, at most until its deadline.

    The custom status is the job's status; the output is the end's name. The two events' waits are
    made once and raced again and again: the database, not the event, is the record.
    """
    job = context.get_input()
    ended = context.wait_for_external_event(ENDED)
    waiting = [ended, started := context.wait_for_external_event(STARTED)]
    activity = CALL
    context.set_custom_status(JobStatus.QUEUED.value)
    for _ in range(ROUNDS):
        answer = yield from _attempt(context, activity, job)
        if answer["kind"] == "ended":
            return _end(context, answer["status"])
        if answer["status"]:
            context.set_custom_status(answer["status"])
        activity = EXPIRE if answer["kind"] == "taken" else CALL
        until = datetime.fromisoformat(answer["until"])
        while True:
            timer = context.create_timer(wake_up(until, context.current_utc_datetime))
            winner = yield context.task_any([*waiting, timer])
            if winner is timer:
                break
            timer.cancel()
            if winner is ended:
                return _end(context, _event_text(ended.result))
            waiting = [ended]
            context.set_custom_status(JobStatus.STARTED.value)
            until = datetime.fromisoformat(_event_text(started.result))
    context.continue_as_new(job)
    return None


def _attempt(
    context: df.DurableOrchestrationContext, activity: str, job: Any
) -> Generator[Any, Any, dict[str, Any]]:
    try:
        answer: dict[str, Any] = yield context.call_activity(activity, job)
        return answer
    except Exception:
        # Any failure of an activity passes: what cannot pass comes back as an answer.
        later = context.current_utc_datetime + PAUSE_AFTER_FAILURE
        return {"kind": "again", "until": later.isoformat(), "status": None}


def _end(context: df.DurableOrchestrationContext, status: str) -> str:
    context.set_custom_status(status)
    return status


def _event_text(data: Any) -> str:
    """The client raises events as JSON text of JSON text; plain HTTP raises the text itself."""
    text = str(data)
    return str(json.loads(text)) if text.startswith('"') else text
