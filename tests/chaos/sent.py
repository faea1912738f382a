"""What was sent: all that the check knows beforehand."""

from dataclasses import dataclass, field
from uuid import UUID

from local.demo.file_service import StoredFile
from tests.chaos.extractors import Wanted


@dataclass(frozen=True)
class SentFile:
    """A file with the end that it must come to."""

    stored: StoredFile
    wanted: Wanted

    @property
    def file_id(self) -> str:
        return str(self.stored.file_id)

    @property
    def job_id(self) -> UUID:
        """The file's first job."""
        return self.stored.job_id


@dataclass
class Sent:
    """Files, and the message ids of what was sent besides."""

    files: list[SentFile] = field(default_factory=list)
    early: set[str] = field(default_factory=set)
    """Statuses of jobs that may not have been there yet."""
    late: int = 0
    """Statuses of jobs that had ended."""
    refused: set[str] = field(default_factory=set)
    """What breaks the contract, or names what does not exist: it must be dead-lettered."""
    ghosts: set[str] = field(default_factory=set)
    """Statuses that a lying extractor may send of jobs that do not exist."""

    def wanted(self) -> dict[str, Wanted]:
        """By FileID."""
        return {each.file_id: each.wanted for each in self.files}
