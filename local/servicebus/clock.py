"""The one source of time: every lock, expiry, schedule and window is measured with it."""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time, in milliseconds since 1970-01-01 UTC, as AMQP timestamps count."""

    def now(self) -> int: ...

    def seconds_until(self, moment: int) -> float:
        """The real seconds, at least 0, that pass until it is `moment`."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def seconds_until(self, moment: int) -> float:
        return max(0, moment - self.now()) / 1000


class AdjustableClock:
    """The machine's clock at first; it can be put forward, and made to run faster or slower."""

    def __init__(self) -> None:
        self._machine = SystemClock()
        self._speed = 1.0
        self._since = self._shown = self._machine.now()

    @property
    def speed(self) -> float:
        """The seconds that pass on it in each real one."""
        return self._speed

    def now(self) -> int:
        return self._shown + round((self._machine.now() - self._since) * self._speed)

    def seconds_until(self, moment: int) -> float:
        return max(0, moment - self.now()) / 1000 / self._speed

    def set_speed(self, speed: float) -> None:
        """Let it run `speed` (above 0) times as fast as the machine's from now on."""
        self.advance(0)
        self._speed = speed

    def advance(self, milliseconds: int) -> None:
        """Put it forward."""
        self._shown = self.now() + milliseconds
        self._since = self._machine.now()
