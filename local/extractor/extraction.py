"""Reading a file in a process of its own, so that no document can stop or slow the service.

The process is this module: `python -m local.extractor.extraction FILE` prints the result as JSON.
"""

import asyncio
import ctypes
import json
import logging
import resource
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from local.extractor.documents import read_document
from local.extractor.errors import ExtractionError
from local.extractor.findings import count, find

READ_SECONDS = 120
"""How long one document may take to be read."""

_PR_SET_PDEATHSIG = 1
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Extraction:
    """`summary` holds counts and facts for the report; `findings` the values, which stay here."""

    summary: dict[str, Any]
    findings: list[dict[str, Any]]


def extract(content: bytes) -> Extraction:
    """Read a document and find what it holds. Raises ExtractionError."""
    document = read_document(content)
    findings = find(document.pages)
    summary = {
        "mediaType": document.media_type,
        "pages": len(document.pages),
        "pagesWithoutText": sum(not page.strip() for page in document.pages),
        "unreadablePages": document.unreadable_pages,
        "characters": document.characters,
        "found": count(findings),
    }
    return Extraction(summary, [asdict(finding) for finding in findings])


async def extract_apart(file: Path, seconds: float = READ_SECONDS) -> Extraction:
    """`extract` in another process, which is killed after `seconds`. Raises ExtractionError."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, str(file), str(int(seconds) + 1)),
        cwd=_ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate()
    except TimeoutError:
        raise ExtractionError(f"Reading the file took longer than {seconds:g} seconds.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _read_answer(output)


def _read_answer(output: bytes) -> Extraction:
    if not output:
        raise ExtractionError("Reading the file broke off; it may be damaged or too large.")
    answer = json.loads(output)
    if "error" in answer:
        raise ExtractionError(answer["error"])
    return Extraction(**answer)


def _end_with_the_service() -> None:
    """Should the service be killed meanwhile, nobody else would end its reader (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Read the file named on the command line, within so many seconds of processor time."""
    _end_with_the_service()
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]),) * 2)
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its warnings quote the document
    try:
        answer = asdict(extract(Path(sys.argv[1]).read_bytes()))
    except ExtractionError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
