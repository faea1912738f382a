"""Files of every kind: fetched by their signed link, read apart, or refused in words for people."""

import asyncio
import logging
import socket
import time
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest

from local.extractor.download import download
from local.extractor.errors import ExtractionError
from local.extractor.extraction import extract_apart
from tests.contract.extractor.conftest import BREAK_OFF, SIGNATURE, FileServer, RunningExtractor


async def test_the_signed_link_is_used_byte_for_byte(
    extractor: RunningExtractor, files: FileServer
):
    files.keep(b"text", "a b#ä.txt")

    end = await extractor.end_of(files.link("a%20b%23%C3%A4.txt"))

    assert end.type == "JobSucceeded"
    assert files.requested == [f"/files/a%20b%23%C3%A4.txt?{SIGNATURE}"]


async def test_an_empty_file_fails_the_job(extractor: RunningExtractor, files: FileServer):
    assert await extractor.error_of(files.keep(b"")) == "The file is empty (0 bytes)."


async def test_a_damaged_file_fails_the_job(extractor: RunningExtractor, files: FileServer):
    error = await extractor.error_of(files.keep(b"%PDF-1.7 and then nothing that makes sense"))

    assert error == "The PDF is damaged and cannot be read."


@pytest.mark.parametrize(
    ("status", "phrase"), [(403, "403 (Forbidden)"), (404, "404 (Not Found)"), (302, "302 (Found)")]
)
async def test_a_link_that_is_refused_fails_the_job_at_once(
    extractor: RunningExtractor, files: FileServer, status: int, phrase: str
):
    files.failures = [status]

    error = await extractor.error_of(files.keep(b"text"))

    assert error == f"The file could not be downloaded: its storage answered {phrase}."
    assert len(files.requested) == 1


async def test_a_passing_failure_of_the_storage_is_tried_again(
    extractor: RunningExtractor, files: FileServer
):
    files.failures = [503, BREAK_OFF]

    end = await extractor.end_of(files.keep(b"EUR 5"))

    assert end.fields["ResultSummary"]["characters"] == len("EUR 5")
    assert len(files.requested) == 3


async def test_a_lasting_failure_of_the_storage_fails_the_job(
    extractor: RunningExtractor, files: FileServer
):
    files.failures = [503] * 3

    error = await extractor.error_of(files.keep(b"text"))

    assert "503 (Service Unavailable)" in error


async def test_a_storage_out_of_reach_fails_the_job(extractor: RunningExtractor):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    error = await extractor.error_of(f"http://127.0.0.1:{port}/a.pdf?{SIGNATURE}")

    assert error == "The file could not be downloaded: ClientConnectorError."


@pytest.mark.parametrize("name", ["missing", "kept"])
async def test_no_log_line_and_no_report_holds_the_signature(
    extractor: RunningExtractor, files: FileServer, name: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    files.keep(b"text", "kept")
    files.failures = [503]

    end = await extractor.end_of(files.link(name))

    # The access log is that of the file server, which stands for another one's.
    said = "\n".join(each.getMessage() for each in caplog.records if each.name != "aiohttp.access")
    assert f"/files/{name}" in said
    assert "sig=" not in said
    assert "sig=" not in str(end)


async def test_a_file_above_the_limit_is_refused_while_it_arrives(
    files: FileServer,
):
    link = files.keep(b"x" * (1024**2 + 1))

    async with aiohttp.ClientSession() as session:
        with pytest.raises(ExtractionError, match=r"^The file is larger than 1 MB\.$"):
            await download(session, link, BytesIO(), max_bytes=1024**2)


async def test_no_downloaded_file_is_left_behind(extractor: RunningExtractor, files: FileServer):
    await extractor.end_of(files.keep(b"text"))

    left = [path.name for path in (extractor.folder / "accepted").iterdir()]
    assert [name for name in left if not name.endswith(".json")] == []


async def test_a_document_that_takes_too_long_is_given_up_and_holds_nobody_up(tmp_path: Path):
    endless = tmp_path / "endless"
    endless.write_text("DE89 " * 3_000_000)
    begun = time.monotonic()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    with pytest.raises(ExtractionError, match=r"^Reading the file took longer than 0.5 seconds\.$"):
        await extract_apart(endless, seconds=0.5)
    ticking.cancel()

    assert time.monotonic() - begun < 5
    assert ticks > 20


async def test_a_reader_that_dies_fails_the_job_in_words(tmp_path: Path):
    with pytest.raises(ExtractionError, match="broke off"):
        await extract_apart(tmp_path / "does not exist")
