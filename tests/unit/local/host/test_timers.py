"""Schedules, and what a timer function is told."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from local.host.functions import FunctionInError
from local.host.invoker import Invoker
from local.host.timers import ScheduleStatuses, Timer, parse_schedule
from local.host.worker import CallFailed
from tests.unit.local.host.fakes import FakeClock, FakeWorker, make_function

NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("*/5 * * * * *", datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC)),
        ("0 */5 * * * *", datetime(2026, 11, 30, 12, 5, 0, tzinfo=UTC)),
        ("*/5 * * * *", datetime(2026, 11, 30, 12, 5, 0, tzinfo=UTC)),
        ("0 0 0 1 1 *", datetime(2027, 1, 1, tzinfo=UTC)),
        ("0 0 0 13 * Fri", datetime(2027, 8, 13, tzinfo=UTC)),
        ("00:00:30", datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)),
    ],
)
def test_a_schedule_has_six_or_five_fields_or_is_an_interval(
    text: str, following: datetime
) -> None:
    assert parse_schedule(text)(NOON) == following


@pytest.mark.parametrize("text", ["not cron", "", "* * *", "00:00:00", "61 * * * * *"])
def test_another_text_puts_the_function_in_error(text: str) -> None:
    with pytest.raises(FunctionInError, match="was not recognized"):
        parse_schedule(text)


class Bench:
    """One timer with a fake worker and a fake clock."""

    def __init__(self, data: Path, schedule: str = "0 */5 * * * *", **settings: Any) -> None:
        self.clock = FakeClock(NOON)
        self.worker = FakeWorker()
        self.statuses = ScheduleStatuses(data / "timers.json")
        self.timer = Timer(
            make_function("timerTrigger", "t", "tick", schedule=schedule, **settings),
            self.statuses,
            Invoker(self.worker, None, {}),  # type: ignore[arg-type]  # a stand-in worker
            self.clock,
        )

    def told(self) -> dict[str, Any]:
        """What the last call was told."""
        _, inputs, _ = self.worker.calls[-1]
        document: dict[str, Any] = json.loads(inputs["t"].json or "")
        return document


async def test_a_timer_is_told_its_status(tmp_path: Path) -> None:
    # Given a timer that has fired once
    bench = Bench(tmp_path)
    await bench.timer.fire()

    # When it fires again
    bench.clock.advance(minutes=5)
    await bench.timer.fire()

    # Then it is told when it fired and will fire
    assert bench.told() == {
        "Schedule": {"AdjustForDST": True},
        "ScheduleStatus": {
            "Last": "2026-11-30T12:00:00+00:00",
            "Next": "2026-11-30T12:05:00+00:00",
            "LastUpdated": "2026-11-30T12:00:00+00:00",
        },
        "IsPastDue": False,
    }


@pytest.mark.parametrize(
    ("schedule", "settings"), [("*/5 * * * * *", {}), ("0 */5 * * * *", {"useMonitor": False})]
)
async def test_a_frequent_or_unmonitored_timer_has_no_status(
    tmp_path: Path, schedule: str, settings: dict[str, Any]
) -> None:
    bench = Bench(tmp_path, schedule, **settings)
    await bench.timer.fire()
    await bench.timer.fire()
    assert bench.told()["ScheduleStatus"] is None
    assert not (tmp_path / "timers.json").exists()


async def test_a_failure_is_survived_and_noted(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.worker.failure = CallFailed("RuntimeError: boom", "stack")
    await bench.timer.fire()
    assert bench.statuses.get("tick") is not None


async def test_the_trigger_metadata_has_the_time_in_us_form(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.timer.fire()
    _, _, metadata = bench.worker.calls[-1]
    assert metadata["TimerTrigger"].string == "11/30/2026 12:00:00"
