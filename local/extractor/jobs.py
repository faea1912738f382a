"""The jobs that the extractor has taken, kept on disk so that a killed extractor forgets none."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID


@dataclass(frozen=True)
class Job:
    """A call that was taken.

    `trace_parent` is the call's W3C trace context; `behaviours` are its wishes for misbehaviour.
    """

    job_id: UUID
    file_url: str
    taken_at: datetime
    trace_parent: str | None = None
    behaviours: tuple[str, ...] = ()


class JobStore:
    """Jobs in hand in `FOLDER/accepted/<jobId>.json`, ended ones in `FOLDER/<jobId>.json`.

    Only the first holds the signed link, and it goes once the end has been reported.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._accepted = folder / "accepted"
        self._accepted.mkdir(parents=True, exist_ok=True, mode=0o700)

    def accept(self, job: Job) -> bool:
        """Keep the job; False when it was taken before, whether it has ended or not."""
        if self._result_path(job.job_id).exists():
            return False
        text = json.dumps(asdict(job), default=str)
        try:
            _create(self._accepted_path(job.job_id), text)
        except FileExistsError:
            return False
        return True

    def unfinished(self) -> list[Job]:
        """Jobs whose end has not been reported, in the order they were taken."""
        jobs = [_read_job(path) for path in self._accepted.glob("*.json")]
        return sorted(jobs, key=lambda job: job.taken_at)

    def keep_result(self, job: Job, result: Mapping[str, Any]) -> None:
        """Keep how the job ended and what was found."""
        _create(self._result_path(job.job_id), json.dumps(result, ensure_ascii=False, indent=1))

    def result(self, job: Job) -> dict[str, Any] | None:
        """How the job ended; None while it has not."""
        try:
            result: dict[str, Any] = json.loads(self._result_path(job.job_id).read_text())
        except FileNotFoundError:
            return None
        return result

    def end(self, job: Job) -> None:
        """The end has been reported: nothing is left to do."""
        self._accepted_path(job.job_id).unlink()

    @contextmanager
    def working_copy(self, job: Job) -> Iterator[BinaryIO]:
        """A file for the job's document, deleted at the end; after a kill, by the next run."""
        path = self._accepted / f"{job.job_id}.file"
        try:
            with path.open("wb") as file:
                yield file
        finally:
            path.unlink(missing_ok=True)

    def _accepted_path(self, job_id: UUID) -> Path:
        return self._accepted / f"{job_id}.json"

    def _result_path(self, job_id: UUID) -> Path:
        return self._folder / f"{job_id}.json"


def _create(path: Path, text: str) -> None:
    """Write a file that appears with its whole content, for its owner only.

    Raises FileExistsError when it is there already.
    """
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8") as draft:
        draft.write(text)
        draft.flush()
        os.link(draft.name, path)


def _read_job(path: Path) -> Job:
    kept = json.loads(path.read_text())
    return Job(
        job_id=UUID(kept["job_id"]),
        file_url=kept["file_url"],
        taken_at=datetime.fromisoformat(kept["taken_at"]),
        trace_parent=kept["trace_parent"],
        behaviours=tuple(kept["behaviours"]),
    )
