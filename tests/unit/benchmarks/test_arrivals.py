"""Arrivals keep to their times, whatever happens to those before."""

from collections.abc import Sequence

from benchmarks.arrivals import arrivals, keep_to


class FakeTime:
    """A clock that moves when someone sleeps, or when an arrival takes time."""

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def kept(offsets: Sequence[float], taken: Sequence[float]) -> list[tuple[float, float]]:
    """When each was due and when it came, if each takes so many seconds."""
    time = FakeTime()
    came: list[tuple[float, float]] = []

    def arrive(number: int, due: float) -> None:
        came.append((due, time.now))
        time.now += taken[number]

    keep_to(offsets, arrive, time.clock, time.sleep)
    return came


def test_they_are_evenly_spaced_and_as_many_as_the_rate_makes_in_the_time() -> None:
    assert arrivals(4, 1.5) == [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]


def test_each_comes_when_it_is_due() -> None:
    assert kept([0, 1, 2], taken=[0, 0, 0]) == [(100, 100), (101, 101), (102, 102)]


def test_one_that_takes_long_puts_no_later_one_off() -> None:
    assert kept([0, 1, 2, 5], taken=[2.5, 0, 0, 0]) == [
        (100, 100),
        (101, 102.5),
        (102, 102.5),
        (105, 105),
    ]
