"""What the run did to the parts, and when."""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum


class Kind(StrEnum):
    """What can happen to a part."""

    KILLED = "killed"
    PAUSED = "paused"
    STOPPED = "stopped"
    LOCKED = "locked"


@dataclass(frozen=True)
class Failure:
    """A part, or the database, failed at `at` and was there again at `until`."""

    kind: Kind
    part: str
    at: datetime
    until: datetime


class Journal:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._failures: list[Failure] = []
        self._lock = threading.Lock()

    def note(self, kind: Kind, part: str, at: datetime) -> None:
        """What failed at `at` is there again by now."""
        with self._lock:
            self._failures.append(Failure(kind, part, at, now()))

    @property
    def failures(self) -> Sequence[Failure]:
        with self._lock:
            return list(self._failures)

    @property
    def kills(self) -> Sequence[Failure]:
        return [each for each in self.failures if each.kind is Kind.KILLED]

    def __str__(self) -> str:
        counted = Counter((each.kind, each.part) for each in self.failures)
        by_kind = {
            kind: [
                f"{part} {count}"
                for (other, part), count in sorted(counted.items())
                if other is kind
            ]
            for kind in Kind
        }
        return "; ".join(f"{kind} {', '.join(parts)}" for kind, parts in by_kind.items() if parts)


def now() -> datetime:
    """The time, aware UTC, as the parts on this machine see it."""
    return datetime.now(UTC)
