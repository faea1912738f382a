"""Where misbehaviour enters: around the handler of a call, and around the work on a job.

The rest of the extractor knows nothing of it. Teams who write an extractor can skip this file.
"""

import asyncio
import json
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from local.extractor.behaviour import Behaviour, BehaviourError, read_behaviour, split_behaviours
from local.extractor.calls import Call, CallError, read_call
from local.extractor.errors import ExtractionError
from local.extractor.extraction import Extraction
from local.extractor.jobs import Job
from local.extractor.reports import Report, Send, message_id
from local.extractor.worker import Extract

_BIG_BYTES = 10 * 1024 * 1024
_PAGE = "<!doctype html><title>Welcome</title><p>Please sign in.</p>"


class CallLog:
    """How often the extractor was called and took a job; on disk, so that a kill loses nothing.

    A line for each call says when it arrived and was answered, and with which status: null when
    the extractor hung up.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._of_job: Counter[tuple[str, bool]] = Counter()
        self._of_file: Counter[str] = Counter()
        self._taken_of_file: defaultdict[str, list[str]] = defaultdict(list)
        for line in path.read_text().splitlines() if path.exists() else []:
            self._count(**json.loads(line))

    def note(self, call: Call, arrived: datetime, answer: int | None, *, taken: bool) -> None:
        """A call is about to be answered, with this status or, for None, not at all."""
        counted: dict[str, Any] = {"job": str(call.job_id), "file": call.file, "taken": taken}
        times = {"arrived": arrived.isoformat(), "answered": datetime.now(UTC).isoformat()}
        with self._path.open("a") as log:
            log.write(json.dumps({**counted, **times, "answer": answer}) + "\n")
        self._count(**counted)

    def of_file(self, file: str) -> int:
        """Calls for a file, whatever the job."""
        return self._of_file[file]

    def earlier_jobs(self, call: Call) -> int:
        """How many other jobs of the same file were taken before this one."""
        taken = self._taken_of_file[call.file]
        job = str(call.job_id)
        return taken.index(job) if job in taken else len(taken)

    async def answer(self, request: web.Request) -> web.Response:
        """`GET /calls/{job_id}`: calls for a job, and how many of them took it."""
        job = request.match_info["job_id"].lower()
        taken = self._of_job[job, True]
        called = taken + self._of_job[job, False]
        return web.json_response({"jobId": job, "called": called, "taken": taken})

    def _count(self, job: str, file: str, taken: bool, **_: Any) -> None:
        self._of_job[job, taken] += 1
        self._of_file[file] += 1
        if taken:
            self._taken_of_file[file].append(job)


def rehearse_answers(log: CallLog) -> Middleware:
    """Answers as the `behaviour` parameters of the request wish."""

    @web.middleware
    async def rehearse(request: web.Request, handler: Handler) -> web.StreamResponse:
        arrived = datetime.now(UTC)
        try:
            behaviour = read_behaviour(split_behaviours(request.query.getall("behaviour", [])))
            call = read_call(await request.read()) if request.method == "POST" else None
        except BehaviourError as error:
            return web.json_response({"error": "Bad Request", "message": str(error)}, status=400)
        except CallError:
            call = None
        if call is None:
            return await handler(request)
        await asyncio.sleep(behaviour.slow)
        answer, taken = await _answer(request, handler, behaviour, log.of_file(call.file))
        status = None if answer is None else answer.status
        log.note(call, arrived, status, taken=taken)
        return _hang_up(request) if answer is None else answer

    return rehearse


async def _answer(
    request: web.Request, handler: Handler, behaviour: Behaviour, earlier_calls: int
) -> tuple[web.StreamResponse | None, bool]:
    """The answer, None for none at all, and whether the job was taken."""
    if behaviour.empty:
        return None, False
    status = behaviour.refusal(earlier_calls)
    if status:
        return _refuse(status, behaviour), False
    answer = await handler(request)
    if answer.status != 202:
        return answer, False
    return (None if behaviour.lose_answer else _dress(answer, behaviour)), True


def _refuse(status: int, behaviour: Behaviour) -> web.Response:
    headers = {}
    if behaviour.redirect:
        headers["Location"] = "/extract"
    if behaviour.retry_after is not None:
        headers["Retry-After"] = str(behaviour.retry_after)
    return web.json_response({"error": "refused on demand"}, status=status, headers=headers)


def _hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _dress(answer: web.StreamResponse, behaviour: Behaviour) -> web.StreamResponse:
    if behaviour.html:
        return web.Response(text=_PAGE, content_type="text/html", status=behaviour.status)
    if behaviour.big:
        return web.json_response({"filler": "x" * _BIG_BYTES}, status=behaviour.status)
    answer.set_status(behaviour.status)
    return answer


def rehearse_work(job: Job, extract: Extract, send: Send, log: CallLog) -> tuple[Extract, Send]:
    """Extraction and reporting as the job's behaviours wish."""
    behaviour = read_behaviour(job.behaviours)
    return _rehearse_extraction(behaviour, extract, log), _rehearse_reports(behaviour, send)


def _rehearse_extraction(behaviour: Behaviour, extract: Extract, log: CallLog) -> Extract:
    async def rehearsed(job: Job) -> Extraction:
        if behaviour.fails(log.earlier_jobs(Call(job.job_id, job.file_url))):
            raise ExtractionError("The extractor was asked to report a failure.")
        if behaviour.instant:
            return Extraction({"pages": 0, "characters": 0}, [])
        return await extract(job)

    return rehearsed


def _rehearse_reports(behaviour: Behaviour, send: Send) -> Send:
    held_back: list[Report] = []

    async def send_once_or_twice(report: Report) -> None:
        if other := behaviour.report_as:
            status = report.type.removeprefix("Job")
            report = replace(report, job_id=other, message_id=message_id(other, status))
        await send(report)
        if behaviour.report_twice:
            # Under the same id the broker's duplicate detection would drop it.
            await send(replace(report, message_id=f"{report.message_id}:again"))

    async def send_rehearsed(report: Report) -> None:
        if behaviour.silent:
            await asyncio.Event().wait()
        if report.type == "JobStarted" and behaviour.report_late:
            held_back.append(report)
            return
        if report.type != "JobStarted":
            await asyncio.sleep(behaviour.busy)
        await send_once_or_twice(report)
        for late in held_back:
            await asyncio.sleep(behaviour.report_late)
            await send_once_or_twice(late)

    return send_rehearsed
