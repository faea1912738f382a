"""An extractor inside the benchmark's own process, so that one clock tells all times.

It takes every job, and reports that it begins and, a moment later, that it has succeeded: one job
on the topic, the next one by call-back, by turns.
"""

import asyncio
import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import UUID

import aiohttp
from aiohttp import web

from benchmarks.stamps import Stamps, Step
from local.extractor.jobs import Job
from local.extractor.reports import StatusTopic, started, succeeded
from local.settings import HOST

WORK_SECONDS = 0.1
"""Between its two reports, so that the second is not measured while the first is under way."""

SUMMARY = {"pages": 1, "characters": 21}


class InstantExtractor:
    """Takes `POST /{topic}`, and reports on that topic or to the address in the call's headers."""

    def __init__(self, stamps: Stamps, bus: str) -> None:
        self.url = ""
        """Where it listens."""
        self.failures: list[str] = []
        """What went wrong with reports, in words: of these jobs the end will not be seen."""
        self._stamps = stamps
        self._bus = bus
        self._topics: dict[str, StatusTopic] = {}
        self._by_call = itertools.cycle((False, True))
        self._reporting: set[asyncio.Task[None]] = set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve from a thread of its own."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="extractor")
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._start(), loop).result()
            yield
            asyncio.run_coroutine_threadsafe(self._stop(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _start(self) -> None:
        self._session = aiohttp.ClientSession()
        app = web.Application()
        app.add_routes([web.post("/{topic}", self._take)])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        self.url = f"http://{HOST}:{self._runner.addresses[0][1]}"

    async def _stop(self) -> None:
        await self._runner.cleanup()
        await self._session.close()
        for topic in self._topics.values():
            await topic.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()  # the SDK leaves some of its own behind
        await asyncio.gather(*others, return_exceptions=True)

    async def _take(self, request: web.Request) -> web.Response:
        job_id = request.headers["Idempotency-Key"]
        self._stamps.note(job_id, Step.CALLED)
        job = Job(UUID(job_id), (await request.json())["fileUrl"], datetime.now(UTC))
        report = self._by_callback if next(self._by_call) else self._on_topic
        task = asyncio.create_task(report(job, request.match_info["topic"], request.headers))
        self._reporting.add(task)
        task.add_done_callback(self._ended)
        return web.Response(status=202)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._reporting.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.failures.append(f"{type(error).__name__}: {error}")

    async def _on_topic(self, job: Job, name: str, _headers: Mapping[str, str]) -> None:
        topic = self._topics.setdefault(name, StatusTopic(self._bus, name))
        await topic.send(started(job, datetime.now(UTC)))
        await asyncio.sleep(WORK_SECONDS)
        self._stamps.note(str(job.job_id), Step.REPORTED_ON_TOPIC)
        await topic.send(succeeded(job, datetime.now(UTC), SUMMARY))

    async def _by_callback(self, job: Job, _name: str, headers: Mapping[str, str]) -> None:
        await self._post(headers, {"status": "Started"})
        await asyncio.sleep(WORK_SECONDS)
        self._stamps.note(str(job.job_id), Step.REPORTED_BY_CALL)
        await self._post(headers, {"status": "Succeeded", "resultSummary": SUMMARY})

    async def _post(self, headers: Mapping[str, str], report: Mapping[str, object]) -> None:
        token = {"Authorization": f"Bearer {headers['X-Extractor-Callback-Token']}"}
        url = headers["X-Extractor-Callback-Url"]
        async with self._session.post(url, json=report, headers=token) as answer:
            if answer.status != web.HTTPAccepted.status_code:
                raise RuntimeError(f"a call-back was answered {answer.status}")
