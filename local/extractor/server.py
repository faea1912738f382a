"""The extractor's HTTP endpoints. A call is kept on disk, answered at once, and worked on later."""

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

import aiohttp
from aiohttp import web

from local.extractor.behaviour import split_behaviours
from local.extractor.calls import CallError, read_call
from local.extractor.download import download
from local.extractor.extraction import Extraction, extract_apart
from local.extractor.jobs import Job, JobStore
from local.extractor.rehearsal import CallLog, rehearse_answers, rehearse_work
from local.extractor.reports import Send
from local.extractor.worker import Worker

logger = logging.getLogger(__name__)

_MAX_BODY_BYTES = 64 * 1024


def create_app(folder: Path, send: Send) -> web.Application:
    """The extractor that keeps its jobs in `folder` and reports through `send`."""
    log = CallLog(folder / "calls.jsonl")
    app = web.Application(middlewares=[rehearse_answers(log)], client_max_size=_MAX_BODY_BYTES)
    extractor = Extractor(folder, send, log)
    app.cleanup_ctx.append(extractor.run)
    app.add_routes(
        [
            web.post("/extract", extractor.take),
            web.get("/health", extractor.health),
            web.get("/calls/{job_id}", log.answer),
        ]
    )
    return app


class Extractor:
    """The handlers, and what they share."""

    def __init__(self, folder: Path, send: Send, log: CallLog) -> None:
        self._store = JobStore(folder)
        self._worker = Worker(self._store)
        self._send = send
        self._log = log

    async def run(self, _app: web.Application) -> AsyncIterator[None]:
        """From start to end of the service: first of all, take up what an earlier run left."""
        async with aiohttp.ClientSession() as self._session:
            for job in self._store.unfinished():
                logger.info("job %s is taken up again", job.job_id)
                self._begin(job)
            yield
            await self._worker.close()

    async def take(self, request: web.Request) -> web.Response:
        """`POST /extract`: 202 when taken, 409 when it was taken before, 400 naming the field."""
        try:
            call = read_call(await request.read())
        except CallError as error:
            return _refuse(HTTPStatus.BAD_REQUEST, str(error), field=error.field)
        job = Job(
            call.job_id,
            call.file_url,
            datetime.now(UTC),
            trace_parent=request.headers.get("traceparent"),
            behaviours=split_behaviours(request.query.getall("behaviour", [])),
        )
        if not self._store.accept(job):
            return _refuse(HTTPStatus.CONFLICT, f"job {job.job_id} was taken before")
        logger.info("job %s taken: %s", job.job_id, call.file)
        self._begin(job)
        return web.json_response({"accepted": True, "jobId": str(job.job_id)}, status=202)

    async def health(self, _request: web.Request) -> web.Response:
        """`GET /health`: that it lives, and how many jobs it has in hand."""
        return web.json_response({"status": "ok", "jobsInHand": self._worker.in_hand})

    def _begin(self, job: Job) -> None:
        rehearsed = rehearse_work(job, self._fetch_and_extract, self._send, self._log)
        self._worker.begin(job, *rehearsed)

    async def _fetch_and_extract(self, job: Job) -> Extraction:
        with self._store.working_copy(job) as file:
            await download(self._session, job.file_url, file)
            file.flush()
            return await extract_apart(Path(file.name))


def _refuse(status: HTTPStatus, message: str, **details: str) -> web.Response:
    body = {"error": status.phrase, "message": message, **details}
    return web.json_response(body, status=status)
