"""Time as the durable protocol writes it."""

from collections.abc import Callable
from datetime import UTC, datetime

type Clock = Callable[[], datetime]
"""Answers the time it is, aware and in UTC."""


def utc_now() -> datetime:
    """The time it is."""
    return datetime.now(UTC)


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
