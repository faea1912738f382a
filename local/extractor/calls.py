"""The call that asks for an extraction, as it arrives: checked, or refused with the field named."""

import json
import re
from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

_PRINTABLE_ADDRESS = re.compile(r"https?://[!-~]+")


class CallError(ValueError):
    """The call cannot be understood; `field` is the one that is wrong, empty for the whole body."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Call:
    """Extract the file behind `file_url`, a signed link, and report under `job_id`."""

    job_id: UUID
    file_url: str

    @property
    def file(self) -> str:
        """The file's address without the signature."""
        return self.file_url.partition("?")[0]


def read_call(body: bytes) -> Call:
    """Read `{"fileUrl", "jobId"}`; other fields are ignored. Raises CallError."""
    try:
        document = json.loads(body.decode("utf-8-sig"))
    except ValueError:
        raise CallError("", "the body must be JSON in UTF-8") from None
    if not isinstance(document, dict):
        raise CallError("", "the body must be a JSON object")
    return Call(_job_id(document.get("jobId")), _file_url(document.get("fileUrl")))


def _job_id(value: object) -> UUID:
    try:
        return UUID(_text("jobId", value))
    except ValueError:
        raise CallError("jobId", "jobId must be a GUID") from None


def _file_url(value: object) -> str:
    url = _text("fileUrl", value)
    if not _PRINTABLE_ADDRESS.fullmatch(url) or not _host(url):
        raise CallError("fileUrl", "fileUrl must be an http or https address")
    return url


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _text(field: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise CallError(field, f"{field} is required and must be text")
