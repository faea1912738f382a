"""The one source of time: every lock, expiry, schedule and window is measured with it."""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time; tests give the broker one that they move by hand."""

    def now(self) -> int:
        """Milliseconds since 1970-01-01 UTC, as AMQP timestamps count."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000
