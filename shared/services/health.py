"""Whether the parts that the service needs are within reach."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from shared.domain.errors import TransientError
from shared.domain.mended import Mended
from shared.services.ports import Clock

KEPT_FOR = timedelta(seconds=5)
"""How long an answer stands: probes that come often must not become a load of their own."""


@dataclass(frozen=True)
class PartHealth:
    """One part as it was last looked at; `last_success` is None before the first one."""

    up: bool
    last_success: datetime | None


@dataclass(frozen=True)
class Health:
    """All parts by name, and what was mended ever since; None while that cannot be read."""

    parts: Mapping[str, PartHealth]
    looked_at: datetime
    mended: Sequence[Mended] | None = None

    @property
    def ready(self) -> bool:
        return all(part.up for part in self.parts.values())

    @property
    def down(self) -> list[str]:
        return [name for name, part in self.parts.items() if not part.up]


class CheckHealth:
    """Looks at every part, side by side. A check raises TransientError when its part is away."""

    def __init__(
        self,
        checks: Mapping[str, Callable[[], object]],
        mended: Callable[[], Sequence[Mended]],
        clock: Clock,
    ) -> None:
        self._checks = checks
        self._mended = mended
        self._clock = clock
        self._lock = Lock()
        self._last: Health | None = None
        self._successes: dict[str, datetime] = {}

    def __call__(self) -> Health:
        """The health of all parts, at most five seconds old."""
        with self._lock:
            now = self._clock()
            if self._last is None or now - self._last.looked_at >= KEPT_FOR:
                self._last = self._look(now)
            return self._last

    def _look(self, now: datetime) -> Health:
        with ThreadPoolExecutor(len(self._checks) + 1, thread_name_prefix="health") as threads:
            mended = threads.submit(_or_none, self._mended)
            ups = dict(
                zip(self._checks, threads.map(_succeeds, self._checks.values()), strict=True)
            )
        self._successes |= {name: now for name, up in ups.items() if up}
        parts = {name: PartHealth(up, self._successes.get(name)) for name, up in ups.items()}
        return Health(parts, now, mended.result())


def _or_none(read: Callable[[], Sequence[Mended]]) -> Sequence[Mended] | None:
    try:
        return read()
    except TransientError:
        return None


def _succeeds(check: Callable[[], object]) -> bool:
    try:
        check()
    except TransientError:
        return False
    return True
