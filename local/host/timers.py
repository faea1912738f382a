"""Timer triggers: NCRONTAB schedules, their stored status, and one call at a time."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from cronsim import CronSim, CronSimError

from local.durable.clock import Clock
from local.host.functions import Function, FunctionInError
from local.host.host_json import parse_timespan
from local.host.invoker import Invoker
from local.host.protocol import TypedData
from local.host.worker import CallFailed

NEVER = datetime.min.replace(tzinfo=UTC)
SHORTEST_MONITORED = timedelta(minutes=1)
"""A schedule that fires more often than this keeps no status."""
LONGEST_SLEEP_SECONDS = 30.0
"""A laptop that was asleep finds out that a timer is due within this time."""

logger = logging.getLogger(__name__)

type Schedule = Callable[[datetime], datetime]
"""Gives the next time after a time, both in UTC."""


def parse_schedule(text: str) -> Schedule:
    """Six fields (seconds first), five fields, or an interval `hh:mm:ss`.

    Raises FunctionInError for anything else.
    """
    interval = parse_timespan(text)
    if interval:
        return lambda moment: moment + interval
    try:
        CronSim(text, datetime.now(UTC))
    except CronSimError:
        raise FunctionInError(
            f"The schedule expression '{text}' was not recognized"
            " as a valid cron expression or timespan string."
        ) from None
    return lambda moment: _next_of_cron(text, moment)


def _next_of_cron(text: str, moment: datetime) -> datetime:
    times = CronSim(text, moment)
    times.day_and = True  # NCRONTAB wants both the day and the weekday to match
    return next(times)


@dataclass(frozen=True)
class ScheduleStatus:
    """When a timer fired and will fire, as the function sees it: ISO 8601 texts in UTC."""

    Last: str
    Next: str
    LastUpdated: str


class ScheduleStatuses:
    """The statuses of all monitored timers, in one JSON file in the data folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, name: str) -> ScheduleStatus | None:
        """The status of one timer, or None when it never ran here."""
        kept = self._read().get(name)
        return None if kept is None else ScheduleStatus(**kept)

    def put(self, name: str, status: ScheduleStatus) -> None:
        """Replace the status of one timer."""
        written = self._path.with_suffix(".new")
        written.write_text(json.dumps({**self._read(), name: asdict(status)}, indent=1))
        written.replace(self._path)

    def _read(self) -> dict[str, dict[str, str]]:
        if not self._path.exists():
            return {}
        kept: dict[str, dict[str, str]] = json.loads(self._path.read_text())
        return kept


class Timer:
    """One timer function. It never overlaps itself; what it misses while it runs is skipped."""

    def __init__(
        self,
        function: Function,
        statuses: ScheduleStatuses,
        invoker: Invoker,
        clock: Clock,
    ) -> None:
        """Raises FunctionInError when the schedule can't be read."""
        self.function = function
        self._schedule = parse_schedule(function.trigger.text("schedule"))
        self._invoker = invoker
        self._clock = clock
        wanted = function.trigger.settings.get("useMonitor", True)
        self._statuses = statuses if wanted and self._is_monitored() else None

    async def run(self) -> None:
        """Fire at every due time until cancelled; at once when a stored due time has passed."""
        past_due = self.is_past_due()
        if past_due or self.function.trigger.settings.get("runOnStartup"):
            await self.fire(past_due=past_due)
        while True:
            await self._sleep_until(self._schedule(self._clock()))
            await self.fire()

    async def fire(self, past_due: bool = False) -> None:
        """Call the function. A failure is logged, and the schedule goes on."""
        fired = self._clock()
        document = {
            "Schedule": {"AdjustForDST": True},
            "ScheduleStatus": self._status_document(),
            "IsPastDue": past_due,
        }
        inputs = {self.function.trigger.name: TypedData(json=json.dumps(document))}
        metadata = {"TimerTrigger": TypedData(string=f"{fired:%m/%d/%Y %H:%M:%S}")}
        try:
            await self._invoker.call(
                self.function, inputs, metadata, f"Timer fired at {fired.isoformat()}"
            )
        except CallFailed:
            pass
        finally:
            self._note(fired)

    def is_past_due(self) -> bool:
        """Whether a stored due time has passed; notes the next one when there is none."""
        if self._statuses is None:
            return False
        status = self._statuses.get(self.function.name)
        if status is None:
            self._note(NEVER)
            return False
        return datetime.fromisoformat(status.Next) < self._clock()

    async def _sleep_until(self, due: datetime) -> None:
        while (seconds := (due - self._clock()).total_seconds()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(min(self._clock.real_seconds(seconds), LONGEST_SLEEP_SECONDS))

    def _is_monitored(self) -> bool:
        times = [self._clock()]
        for _ in range(10):
            times.append(self._schedule(times[-1]))
        return all(later - sooner >= SHORTEST_MONITORED for sooner, later in pairwise(times[1:]))

    def _status_document(self) -> dict[str, str] | None:
        status = self._statuses.get(self.function.name) if self._statuses else None
        return asdict(status) if status else None

    def _note(self, fired: datetime) -> None:
        if self._statuses is not None:
            following = self._schedule(self._clock())
            status = ScheduleStatus(fired.isoformat(), following.isoformat(), fired.isoformat())
            self._statuses.put(self.function.name, status)
