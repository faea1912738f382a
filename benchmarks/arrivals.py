"""An open loop: things arrive when their time has come, whether or not earlier ones are done."""

import time
from collections.abc import Callable, Sequence

type Clock = Callable[[], float]


def arrivals(per_second: float, seconds: float) -> Sequence[float]:
    """When each one arrives, evenly spaced, in seconds after the first."""
    return [number / per_second for number in range(round(per_second * seconds))]


def keep_to(
    offsets: Sequence[float],
    arrive: Callable[[int, float], None],
    clock: Clock = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Call `arrive` for each arrival, with its number and the time on the clock when it is due.

    One that is late does not put the others off: they come at their times, or at once. Who counts
    from the time when it was due counts the lateness too.
    """
    begun = clock()
    for number, offset in enumerate(offsets):
        due = begun + offset
        if (left := due - clock()) > 0:
            sleep(left)
        arrive(number, due)
