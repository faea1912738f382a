"""Timer: every five minutes, mend what a crash left behind."""

import logging
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import azure.durable_functions as df
import azure.functions as func

from shared.domain.jobs import Job, JobStatus
from shared.functions.handling import handle_here
from shared.functions.holding import in_thread
from shared.functions.orchestrations import start, wake
from shared.services.reconcile import Suspects
from shared.telemetry import log_event, run_in_thread
from shared.wiring import app

bp = df.Blueprint()
logger = logging.getLogger(__name__)

LIVE = {"Running", "Pending", "Suspended", "ContinuedAsNew"}
LIST_LIMIT = 100
"""The platform lists so many instances at most, and the client does not ask for more."""
HEX = "0123456789abcdef"
STARTED = "orchestration started again"
WOKEN = "orchestration woken"
TERMINATED = "orchestration terminated"
STUCK = "reconciliation: its time is long gone"


@bp.timer_trigger(arg_name="timer", schedule="0 */5 * * * *")
@bp.durable_client_input(client_name="client")
async def reconcile(timer: func.TimerRequest, client: Any) -> None:
    """One pass: the database, orchestrations missing, stuck or left over, then dead letters."""
    mended: Counter[str] = Counter(await in_thread(app().reconcile.mend))
    suspects = await in_thread(app().reconcile.suspects)
    mended.update(await _bring_back(client, suspects))
    mended.update(await _end_leftovers(client))
    # A thread of its own: what follows from a dead letter takes some of the triggers'.
    mend_dead_letters = partial(app().dead_letters.mend, handle_here(client))
    mended.update(await run_in_thread(mend_dead_letters))
    found = {kind: count for kind, count in mended.items() if count}
    outcome = "mended" if found else "nothing to mend"
    log_event(logger, "Reconciled", outcome=outcome, **_unchanged(suspects), **found)
    await in_thread(partial(app().reconcile.count, found))


async def _bring_back(client: Any, suspects: Suspects) -> Counter[str]:
    """Start the orchestrations of active jobs that have none, or one that missed its time."""
    mended: Counter[str] = Counter()
    for suspect in suspects.jobs:
        status = await client.get_status(str(suspect.job_id))
        live = _name(status) in LIVE
        if live and suspect.job_id not in suspects.stuck:
            continue
        job = await _active_job(suspect.job_id)
        if job is None:
            continue
        if live:
            await client.terminate(str(job.job_id), STUCK)
            await _note(job, TERMINATED)
            mended["orchestrationsTerminated"] += 1
            continue  # it is started again by the next pass, when the termination has been done
        await start(client, job)
        await _note(job, STARTED)
        mended["orchestrationsStarted"] += 1
    return mended


async def _active_job(job_id: UUID) -> Job | None:
    """Read after its orchestration was looked at: one that has ended just now took that along."""
    job = (await in_thread(partial(app().reconcile.jobs, [job_id]))).get(job_id)
    return job if job and job.active else None


async def _end_leftovers(client: Any) -> Counter[str]:
    """Wake live orchestrations whose job has ended; end those that did not wake up by the next
    pass, and those whose job is unknown.
    """
    ids = [job_id for each in await _running(client) if (job_id := _guid(each.instance_id))]
    jobs = await in_thread(partial(app().reconcile.jobs, ids))
    mended: Counter[str] = Counter()
    for job_id in ids:
        job: Job | None = jobs.get(job_id)
        if job is None:
            await client.terminate(str(job_id), "reconciliation: there is no such job")
            mended["orchestrationsTerminated"] += 1
        elif not job.active and await in_thread(partial(app().reconcile.was_noted, job, WOKEN)):
            await client.terminate(str(job_id), "reconciliation: its job has ended")
            await _note(job, TERMINATED)
            mended["orchestrationsTerminated"] += 1
        elif not job.active:
            await wake(client, job, None)
            await _note(job, WOKEN)
            mended["orchestrationsWoken"] += 1
    return mended


async def _running(client: Any, prefix: str = "") -> list[Any]:
    """All running instances whose ids begin so, however many: a full list is asked for in parts."""
    running = [df.OrchestrationRuntimeStatus.Running]
    found = await client.get_status_by(runtime_status=running, instance_id_prefix=prefix)
    if len(found) < LIST_LIMIT:
        return list(found)
    return [each for digit in HEX for each in await _running(client, prefix + digit)]


async def _note(job: Job, what: str) -> None:
    await in_thread(partial(app().reconcile.note, job, what))


def _unchanged(suspects: Suspects) -> dict[str, Any]:
    states = Counter(job.status for job in suspects.jobs)
    return {
        "jobsQueued": states[JobStatus.QUEUED],
        "jobsStarted": states[JobStatus.STARTED],
        "jobsStuck": len(suspects.stuck),
        "oldestMinutes": suspects.oldest and suspects.oldest // timedelta(minutes=1),
    }


def _name(status: Any) -> str | None:
    runtime_status = getattr(status, "runtime_status", None)
    return getattr(runtime_status, "name", None)


def _guid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
