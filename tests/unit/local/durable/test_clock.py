"""The clock that everything durable goes by."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from local.durable.clock import Clock

BLINK = timedelta(seconds=0.2)


def test_it_tells_the_time_on_the_wall() -> None:
    clock = Clock()
    assert abs(clock() - datetime.now(UTC)) < BLINK
    assert clock.real_seconds(5) == 5


@pytest.mark.parametrize("rate", [0.5, 600])
def test_with_a_rate_it_runs_that_much_faster_from_now_on(rate: float) -> None:
    # Given a clock with a rate
    clock = Clock(rate)
    began, real = clock(), time.monotonic()
    assert abs(began - datetime.now(UTC)) < BLINK * max(rate, 1)

    # When a moment has passed, so many moments have passed on it
    time.sleep(0.02)
    passed = (clock() - began).total_seconds()
    assert passed == pytest.approx((time.monotonic() - real) * rate, abs=0.01 * rate)

    # And to wait for its seconds takes that much less
    assert clock.real_seconds(60) == 60 / rate
