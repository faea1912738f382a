"""The clock of the host and its durable engine, and time as the durable protocol writes it."""

from datetime import UTC, datetime


class Clock:
    """Tells the time, aware and in UTC.

    At a `rate` of 60 a minute passes in a second: tests see timers of minutes fire. Such a clock
    starts with the time on the wall, also after a restart, and is ahead of it from then on.
    """

    def __init__(self, rate: float = 1.0) -> None:
        self._rate = rate
        self._began = datetime.now(UTC)

    def __call__(self) -> datetime:
        """The time it is."""
        return self._began + (datetime.now(UTC) - self._began) * self._rate

    def real_seconds(self, seconds: float) -> float:
        """How long a process has to wait until so many seconds have passed on this clock."""
        return seconds / self._rate


def timestamp(time: datetime) -> str:
    """UTC with seven decimals and `Z`, so that text order is the order of time."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}0Z"


def whole_seconds(time: datetime) -> str:
    """UTC cut to seconds, as status documents show it."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def parse_time(text: str) -> datetime:
    """An ISO 8601 time; one without an offset is taken as UTC. Raises ValueError."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
