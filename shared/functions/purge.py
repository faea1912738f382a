"""Timer: every night, remove what is old: messages sent, histories of orchestrations, jobs."""

import logging
from datetime import timedelta
from typing import Any

import azure.durable_functions as df
import azure.functions as func

from shared.functions.holding import in_thread
from shared.telemetry import log_event
from shared.wiring import app

bp = df.Blueprint()
logger = logging.getLogger(__name__)

ENDED = [
    df.OrchestrationRuntimeStatus.Completed,
    df.OrchestrationRuntimeStatus.Failed,
    df.OrchestrationRuntimeStatus.Terminated,
]
NIGHTS_MISSED = timedelta(days=30)
"""How far back a night looks, so that some missed ones leave nothing behind."""


@bp.timer_trigger(arg_name="timer", schedule="0 30 3 * * *")
@bp.durable_client_input(client_name="client")
async def purge(timer: func.TimerRequest, client: Any) -> None:
    """Nothing younger than PURGE_AFTER_DAYS is touched, nor anything that still runs."""
    before = app().purge.before
    removed = await in_thread(app().purge)
    histories = await client.purge_instance_history_by(
        created_time_from=before - NIGHTS_MISSED, created_time_to=before, runtime_status=ENDED
    )
    log_event(logger, "Old data removed", **removed, histories=histories.instances_deleted)
