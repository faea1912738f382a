"""Clocks: what they tell, and how long it is until a moment."""

import time

import pytest

from local.servicebus.clock import AdjustableClock, SystemClock


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The machine's time in milliseconds, in a list of one."""
    shown = [1_000_000]
    monkeypatch.setattr(time, "time_ns", lambda: shown[0] * 1_000_000)
    return shown


def test_the_system_clock_tells_milliseconds() -> None:
    assert abs(SystemClock().now() - time.time() * 1000) < 1_000


def test_a_moment_that_has_passed_is_not_waited_for(machine: list[int]) -> None:
    assert SystemClock().seconds_until(999_000) == 0
    assert SystemClock().seconds_until(1_001_500) == 1.5


def test_a_clock_that_nobody_adjusts_is_the_machines(machine: list[int]) -> None:
    clock = AdjustableClock()
    machine[0] += 5_000
    assert clock.now() == 1_005_000
    assert clock.seconds_until(1_006_000) == 1


def test_a_clock_put_forward_stays_ahead(machine: list[int]) -> None:
    clock = AdjustableClock()
    clock.advance(60_000)
    machine[0] += 1_000
    assert clock.now() == 1_061_000


def test_a_faster_clock_goes_on_from_where_it_was(machine: list[int]) -> None:
    clock = AdjustableClock()
    machine[0] += 1_000
    clock.set_speed(60)
    assert clock.now() == 1_001_000
    machine[0] += 1_000
    assert clock.now() == 1_061_000
    assert clock.seconds_until(1_121_000) == 1
    clock.set_speed(1)
    machine[0] += 1_000
    assert clock.now() == 1_062_000
