"""What is written down about a file: append-only facts in order of time."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

SYSTEM = "system"
"""The actor of what the service does by itself."""


class EventKind(StrEnum):
    """The kinds of `[extractor].[FileEvent]`."""

    ACCEPTED = "accepted"
    STATUS = "status"
    CALL = "call"
    RETRY = "retry"
    OPERATOR = "operator"
    DEAD_LETTER = "dead letter"
    MENDED = "mended"


@dataclass(frozen=True)
class FileEvent:
    """One fact. `source` is the part that wrote it, `actor` who caused it, `detail` plain JSON."""

    file_id: UUID
    at: datetime
    kind: EventKind
    source: str
    job_id: UUID | None = None
    request_id: str | None = None
    actor: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
