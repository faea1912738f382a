"""The extractor on a real socket, beside a server of files; its reports go to a list."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from local.extractor import download
from local.extractor.reports import Report
from local.extractor.server import create_app
from tests.until import until

SIGNATURE = "sv=2024-01-01&sig=a%2Bb%2Fc%3D"


BREAK_OFF = 0
"""In place of a status: the answer breaks off after some bytes."""


async def _break_off(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Length": "1000"})
    await answer.prepare(request)
    await answer.write(b"EUR 1.00 ")
    assert request.transport is not None
    request.transport.close()
    return answer


class FileServer:
    """Serves the files it was given under `/files/NAME`, for the right signature only."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.failures: list[int] = []
        self.requested: list[str] = []
        self._server = TestServer(self._app())

    def _app(self) -> web.Application:
        app = web.Application()
        app.add_routes([web.get("/files/{name}", self._serve)])
        return app

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.requested.append(request.raw_path)
        failure = self.failures.pop(0) if self.failures else None
        if failure == BREAK_OFF:
            return await _break_off(request)
        if failure:
            return web.Response(status=failure, headers={"Location": "/elsewhere"})
        if request.raw_path.partition("?")[2] != SIGNATURE:
            return web.Response(status=403)
        content = self.contents.get(request.match_info["name"])
        return web.Response(body=content) if content is not None else web.Response(status=404)

    def keep(self, content: bytes, name: str = "document") -> str:
        """Keep a file and return its signed link."""
        self.contents[name] = content
        return self.link(name)

    def link(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.port}/files/{name}?{SIGNATURE}"

    async def __aenter__(self) -> "FileServer":
        await self._server.start_server()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._server.close()


class RunningExtractor:
    """The service as its callers and the job status topic see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[Report] = []
        self.broker_is_up = asyncio.Event()
        self.broker_is_up.set()

    async def _accept(self, report: Report) -> None:
        await self.broker_is_up.wait()
        self.reports.append(report)

    async def start(self) -> None:
        self._server = TestServer(create_app(self.folder, self._accept))
        await self._server.start_server()
        self._session = aiohttp.ClientSession(self._server.make_url("/"))

    async def stop(self) -> None:
        await self._session.close()
        await self._server.close()

    async def post(
        self, behaviour: str = "", headers: dict[str, str] | None = None, **body: Any
    ) -> tuple[int, Any]:
        """The status and the JSON body of the answer."""
        parameters = {"behaviour": behaviour} if behaviour else {}
        async with self._session.post(
            "/extract", json=body, params=parameters, headers=headers, allow_redirects=False
        ) as answer:
            return answer.status, await answer.json()

    async def call(self, link: str, behaviour: str = "", job_id: UUID | None = None) -> int:
        """Ask for an extraction, and return the status."""
        return (await self.post(behaviour, fileUrl=link, jobId=str(job_id or uuid4())))[0]

    def raw_post(self, **options: Any) -> aiohttp.client._RequestContextManager:
        return self._session.post("/extract", allow_redirects=False, **options)

    async def get(self, path: str) -> Any:
        async with self._session.get(path) as answer:
            return await answer.json()

    async def end_of(self, link: str, behaviour: str = "") -> Report:
        """Ask for an extraction, and return the report of its end."""
        reports = len(self.reports) + 2
        assert await self.call(link, behaviour) == 202
        return (await self.reported(reports))[-1]

    async def reported(self, count: int) -> list[Report]:
        """The reports, once there are so many."""
        await until(lambda: len(self.reports) >= count)
        return self.reports

    async def error_of(self, link: str) -> str:
        """Why the extraction of a file failed."""
        report = await self.end_of(link)
        assert report.type == "JobFailed"
        return str(report.fields["ErrorMessage"])


@pytest.fixture
async def files() -> AsyncIterator[FileServer]:
    async with FileServer() as server:
        yield server


@pytest.fixture
async def extractor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[RunningExtractor]:
    monkeypatch.setattr(download, "PAUSES", (0.01, 0.01))
    running = RunningExtractor(tmp_path / "extractor")
    await running.start()
    yield running
    await running.stop()
