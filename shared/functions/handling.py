"""What is done with the messages of each subscription, by its trigger and with its dead letters."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import UUID

from shared.contracts.incoming import (
    AttemptResult,
    Incoming,
    Source,
    file_accepted,
    job_status,
    retry_event,
    retry_result,
)
from shared.contracts.retry import ExtractionRetryEvent
from shared.domain.jobs import Job, JobStatus
from shared.functions.holding import afterwards, in_thread
from shared.functions.orchestrations import start, wake
from shared.services.handle_retry import Asked
from shared.services.record_report import Recorded
from shared.wiring import app

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Handling(Generic[ResultT]):
    """Both steps are safe to repeat.

    `handle` reads the message and commits what it asks for, blocking: it raises PermanentError,
    NotYetError and TransientError. `follow` sends and starts what follows from that, and takes
    the durable client.
    """

    handle: Callable[[Incoming], ResultT]
    follow: Callable[[Any, ResultT], Awaitable[None]]


def handle_here(client: Any) -> Callable[[Source, Incoming], None]:
    """Both steps as one blocking call, for threads beside the running event loop.

    It does not hold the message: whoever gave it keeps it when this raises.
    """
    loop = asyncio.get_running_loop()

    def handle(source: Source, message: Incoming) -> None:
        handling = HANDLINGS[source]
        result = handling.handle(message)
        following = afterwards(partial(handling.follow, client, result))
        asyncio.run_coroutine_threadsafe(following, loop).result()

    return handle


def _accept(message: Incoming) -> Job:
    return app().accept_file(file_accepted(message), message.enqueued_at, message.trace_parent)


async def _send_and_start(client: Any, job: Job) -> None:
    await in_thread(partial(app().send_outbox, job.job_id))
    if job.active:
        await start(client, job)


def _record(message: Incoming) -> Recorded | None:
    report = job_status(message)
    if report.status is JobStatus.QUEUED:
        return None
    return app().record_report(report, source="topic")


async def _wake_and_send(client: Any, recorded: Recorded | None) -> None:
    if recorded is None:
        return
    await wake(client, recorded.job, recorded.due_at)
    if not recorded.job.active:
        await in_thread(partial(app().send_outbox, recorded.job.job_id))


def _ask(message: Incoming) -> tuple[ExtractionRetryEvent, Asked]:
    event = retry_event(message)
    return event, app().handle_retry(event, message.trace_parent)


async def _send_and_start_all(client: Any, done: tuple[ExtractionRetryEvent, Asked]) -> None:
    _, asked = done
    for kept_by in asked.outboxes:
        await in_thread(partial(app().send_outbox, kept_by))
    for job in asked.jobs:
        if job.active:
            await start(client, job)


def _decide(message: Incoming) -> tuple[AttemptResult, UUID | None]:
    ended = retry_result(message)
    return ended, app().stage_mapper.ask_for_next_attempt(ended.result, ended.attempt)


async def _send_next(client: Any, done: tuple[AttemptResult, UUID | None]) -> None:
    _, kept_by = done
    if kept_by:
        await in_thread(partial(app().send_outbox, kept_by))


ACCEPTED_FILE = Handling(_accept, _send_and_start)
JOB_STATUS = Handling(_record, _wake_and_send)
EXTRACTION_RETRY = Handling(_ask, _send_and_start_all)
EXTRACTION_RESULT = Handling(_decide, _send_next)

HANDLINGS: Mapping[Source, Handling[Any]] = {
    Source.ACCEPTED_FILE: ACCEPTED_FILE,
    Source.JOB_STATUS: JOB_STATUS,
    Source.EXTRACTION_RETRY: EXTRACTION_RETRY,
    Source.EXTRACTION_RESULT: EXTRACTION_RESULT,
}
