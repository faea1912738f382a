"""What the extractor saw: its own log of calls."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

CONFLICT = 409
"""The answer to a call for a job that the extractor has already."""


@dataclass(frozen=True)
class SeenCall:
    """A call that took its job, or met it as taken. `answer` None: the extractor hung up."""

    arrived: datetime
    answered: datetime
    answer: int | None

    def __str__(self) -> str:
        return f"{self.answer} from {self.arrived:%X.%f} to {self.answered:%X.%f}"


def read_calls(data: Path) -> Mapping[str, Sequence[SeenCall]]:
    """By job, in the order of arrival; calls that were refused are left out."""
    calls = defaultdict(list)
    for line in (data / "extractor/calls.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["taken"] or entry["answer"] == CONFLICT:
            calls[entry["job"]].append(
                SeenCall(_time(entry["arrived"]), _time(entry["answered"]), entry["answer"])
            )
    return {job: sorted(seen, key=lambda call: call.arrived) for job, seen in calls.items()}


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
