"""How much time the orchestration takes: from FileAccepted to the call of the extractor, and from
the extractor's report to the database and the topic.

Files arrive by a schedule, whether or not earlier ones are done, and latencies count from the time
when a file was due: a service that falls behind cannot hide it. The extractor lives in this
process, so one clock tells all times. The same is measured of the bare pieces, by turns: the SDK,
SQL and HTTP called directly, in a process of their own, by the same schedule on the same broker.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.invocations import read_invocations
from benchmarks.latency_report import (
    show_invocations,
    show_loads,
    show_round,
    show_turn,
)
from benchmarks.latency_stack import LatencyStack, running_targets
from benchmarks.report import show_circumstances
from benchmarks.rounds import Round, run_round

RATES = (1.0, 10.0, 50.0)
SECONDS = (120.0, 60.0, 30.0)
"""Jobs a second, and for how long: one a second takes time to become some jobs."""

WARM_UP = (5.0, 4.0)
SEARCH_SECONDS = 45.0
SEARCHED = (0.9, 0.8, 0.7, 0.6, 0.5)
"""Shares of what is done in a second when there is too much: the first that is held, counts."""


def main() -> None:
    """Measure all loads by turns, then the rate that is held, and print it all."""
    options = _options()
    show_circumstances()
    with tempfile.TemporaryDirectory() as folder, running_targets(Path(folder)) as stack:
        for target in (stack.service, stack.bare):
            run_round(stack, target, *WARM_UP)
        turns = []
        for rate, seconds in zip(options.rates, options.seconds, strict=True):
            bare = run_round(stack, stack.bare, rate, seconds)
            service = run_round(stack, stack.service, rate, seconds)
            show_turn(service, bare)
            show_invocations(service, read_invocations(stack.host_log, service.begun_at))
            turns.append((service, bare))
        services, bares = zip(*turns, strict=True)
        searched = list(_search(stack, services, options.search))
    show_loads("The service under each load", services)
    show_loads("The bare pieces under each load", bares)
    _show_sustained([*services, *searched], searched)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency")
    parser.add_argument("--rates", nargs="+", type=float, default=RATES)
    parser.add_argument("--seconds", nargs="+", type=float, default=SECONDS, help="of each rate")
    parser.add_argument("--search", type=float, default=SEARCH_SECONDS, help="seconds of each try")
    return parser.parse_args()


def _search(stack: LatencyStack, rounds: Sequence[Round], seconds: float) -> Iterator[Round]:
    """Try lower rates after one that was too much, until one is held."""
    too_much = [each for each in rounds if not each.held]
    for share in SEARCHED if too_much else ():
        rate = max(1.0, round(too_much[0].done_rate * share))
        found = run_round(stack, stack.service, rate, seconds)
        show_round(found)
        yield found
        if found.held:
            return


def _show_sustained(rounds: Sequence[Round], searched: Sequence[Round]) -> None:
    if searched:
        show_loads("Lower rates, until one is held", searched)
    held = max((each.rate for each in rounds if each.held), default=0.0)
    missed = [f"{each.rate:g}" for each in rounds if not each.held]
    print(f"\nSustained: {held:g} jobs a second.", end="")
    print(f" Not held: {', '.join(missed)}." if missed else "")


if __name__ == "__main__":
    main()
