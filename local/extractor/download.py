"""Fetching a file by its signed link: bounded in size and time, tried again when that may help."""

import asyncio
import logging
from http import HTTPStatus
from typing import BinaryIO

import aiohttp
from yarl import URL

from local.extractor.errors import ExtractionError

logger = logging.getLogger(__name__)

MAX_BYTES = 100 * 1024 * 1024
_TIMEOUT = aiohttp.ClientTimeout(total=300, sock_connect=10, sock_read=30)  # seconds
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further try: a storage service that is restarted costs no job."""

_PASSING = {408, 425, 429, 500, 502, 503, 504}
_CHUNK_BYTES = 256 * 1024


class _PassingError(ExtractionError):
    """A failure that another try may not meet."""


async def download(
    session: aiohttp.ClientSession, link: str, target: BinaryIO, max_bytes: int = MAX_BYTES
) -> None:
    """Copy the file behind `link` to `target`. Raises ExtractionError.

    The link is used as it is given: decoding and encoding it again would break its signature.
    """
    url = URL(link, encoded=True)
    for pause in PAUSES:
        try:
            return await _try_once(session, url, target, max_bytes)
        except _PassingError as error:
            logger.info("download of %s is tried again: %s", url.with_query(None), error)
            await asyncio.sleep(pause)
    return await _try_once(session, url, target, max_bytes)


async def _try_once(
    session: aiohttp.ClientSession, url: URL, target: BinaryIO, max_bytes: int
) -> None:
    try:
        async with session.get(url, timeout=_TIMEOUT, allow_redirects=False) as answer:
            _check_status(answer.status)
            await _copy(answer.content, target, max_bytes)
    except TimeoutError:
        raise _PassingError("The file could not be downloaded in time.") from None
    except aiohttp.ClientError as error:
        # Its text may hold the whole link, so that only its kind is told.
        kind = type(error).__name__
        raise _PassingError(f"The file could not be downloaded: {kind}.") from None


def _check_status(status: int) -> None:
    if status == HTTPStatus.OK:
        return
    phrase = HTTPStatus(status).phrase if status in HTTPStatus else "unknown status"
    error = _PassingError if status in _PASSING else ExtractionError
    raise error(f"The file could not be downloaded: its storage answered {status} ({phrase}).")


async def _copy(content: aiohttp.StreamReader, target: BinaryIO, max_bytes: int) -> None:
    target.seek(0)
    target.truncate()
    async for chunk in content.iter_chunked(_CHUNK_BYTES):
        target.write(chunk)
        if target.tell() > max_bytes:
            raise ExtractionError(f"The file is larger than {max_bytes // 1024**2} MB.")
