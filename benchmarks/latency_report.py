"""What is printed of the latencies."""

from collections.abc import Mapping, Sequence

from benchmarks.report import Row, ratio, show_table
from benchmarks.rounds import Leg, Round
from benchmarks.spread import Spread


def show_turn(service: Round, bare: Round) -> None:
    """Every leg of the service and of the bare pieces under the same load."""
    show_table(
        f"Latencies at {rate_text(service)} jobs a second, of the service and of the bare pieces",
        ("leg", "jobs", "p50", "p95", "p99", "bare p50", "p95", "p99", "ratio of p50"),
        [_leg_row(leg, service.legs[leg], bare.legs[leg]) for leg in Leg],
    )


def _leg_row(leg: Leg, ours: Spread, theirs: Spread) -> Row:
    return (
        leg.value[2],
        str(ours.count),
        *_percentiles(ours),
        *_percentiles(theirs),
        ratio(ours.p50, theirs.p50),
    )


def show_round(round_: Round) -> None:
    """All legs of one round of the service."""
    show_table(
        f"Latencies at {rate_text(round_)} jobs a second",
        ("leg", "jobs", "p50", "p95", "p99"),
        [(leg.value[2], str(each.count), *_percentiles(each)) for leg, each in round_.legs.items()],
    )


def show_loads(title: str, rounds: Sequence[Round]) -> None:
    """Whether each load was held, and what was left when it was over."""
    show_table(
        title,
        ("jobs a second", "seconds", "jobs", "open at the end", "until none", "done/s", "held"),
        [
            (
                f"{each.rate:g}",
                f"{each.jobs / each.rate:.0f}",
                f"{each.jobs:,}",
                f"{each.open_jobs:,}",
                f"{each.seconds_after:.1f} s",
                f"{each.done_rate:.1f}",
                "yes" if each.held else "NO",
            )
            for each in rounds
        ],
    )


def show_invocations(round_: Round, calls: Mapping[str, Sequence[float]]) -> None:
    """How often each function was called for a job, and how long a call took."""
    spreads = {name: Spread.of(seconds) for name, seconds in calls.items()}
    show_table(
        f"Calls of functions in the host at {rate_text(round_)} jobs a second",
        ("function", "calls a job", "p50", "p95", "p99"),
        [
            (name, f"{spread.count / round_.jobs:.2f}", *_percentiles(spread))
            for name, spread in sorted(spreads.items())
        ],
    )


def rate_text(round_: Round) -> str:
    """The rate; a star says that it was not held, so that latencies are those of a backlog."""
    return f"{round_.rate:g}{'' if round_.held else ' *'}"


def _percentiles(spread: Spread) -> tuple[str, str, str]:
    return _time(spread.p50), _time(spread.p95), _time(spread.p99)


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 10 else f"{seconds:.1f} s"
