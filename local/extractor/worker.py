"""The work on a job that was taken: report the start, extract, keep the result, report the end."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

from local.extractor.errors import ExtractionError
from local.extractor.extraction import Extraction
from local.extractor.jobs import Job, JobStore
from local.extractor.reports import Report, Send, failed, started, succeeded

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""How many documents are worked on side by side; the others wait for their turn."""

type Extract = Callable[[Job], Coroutine[None, None, Extraction]]
"""Fetches a job's file and reads it. Raises ExtractionError."""


class Worker:
    """Works on jobs in the background, a few at a time."""

    def __init__(self, store: JobStore, at_once: int = AT_ONCE) -> None:
        self._store = store
        self._turns = asyncio.Semaphore(at_once)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def in_hand(self) -> int:
        """Jobs that have not ended, waiting ones included."""
        return len(self._tasks)

    def begin(self, job: Job, extract: Extract, send: Send) -> None:
        """Start, or take up again, the work on a job that the store holds."""
        task = asyncio.create_task(self._work(job, extract, send), name=str(job.job_id))
        self._tasks.add(task)
        task.add_done_callback(self._let_go)

    def _let_go(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()):
            name = task.get_name()
            logger.error("job %s broke off until the next start", name, exc_info=fault)

    async def close(self) -> None:
        """Drop what is in hand; the store still holds it for the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self, job: Job, extract: Extract, send: Send) -> None:
        async with asyncio.TaskGroup() as reporting, self._turns:
            # Beside the work, not before it: signed links expire while a broker is down.
            reporting.create_task(send(started(job, datetime.now(UTC))))
            result = self._store.result(job) or await self._extract(job, extract)
        await send(_end(job, result))
        self._store.end(job)

    async def _extract(self, job: Job, extract: Extract) -> dict[str, Any]:
        result = await _result(job, extract)
        self._store.keep_result(job, result)
        return result


async def _result(job: Job, extract: Extract) -> dict[str, Any]:
    begun = datetime.now(UTC)
    try:
        extraction = await extract(job)
    except ExtractionError as error:
        outcome: dict[str, Any] = {"errorMessage": str(error)}
    except Exception:
        # A fault of ours must not leave the job without an end.
        logger.exception("job %s met a fault", job.job_id)
        outcome = {"errorMessage": "The extractor met a fault of its own; its log says more."}
    else:
        milliseconds = round((datetime.now(UTC) - begun).total_seconds() * 1000)
        summary = extraction.summary | {"durationMs": milliseconds}
        outcome = {"resultSummary": summary, "findings": extraction.findings}
    return {"jobId": str(job.job_id), "endedAt": datetime.now(UTC).isoformat(), **outcome}


def _end(job: Job, result: dict[str, Any]) -> Report:
    """The same report however often it is made, also after a restart."""
    time = datetime.fromisoformat(result["endedAt"])
    if "errorMessage" in result:
        return failed(job, time, result["errorMessage"])
    return succeeded(job, time, result["resultSummary"])
