"""Ten thousand jobs with the purge on: whether time for each and memory stay as they are.

Twenty jobs are under way at any time, and the purge takes what has been over for half a minute.
Each thousand is told of when it is over; then the last thousand beside the first. Files are rows
only: nobody fetches them, so Blob Storage has nothing to do.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import ratio, show_circumstances, show_table
from benchmarks.soak_stack import Lap, running_soak

JOBS, LAP = 10_000, 1_000
WARM_UP = 200


def main() -> None:
    """Run all laps, and print each and what has changed."""
    options = _options()
    show_circumstances()
    laps = []
    with tempfile.TemporaryDirectory() as folder, running_soak(Path(folder)) as stack:
        stack.run(options.warm_up)
        for number in range(options.jobs // options.lap):
            laps.append(stack.run(options.lap))
            print(f"{(number + 1) * options.lap:7,} jobs: {told(laps[-1])}", flush=True)
    show_change(laps)


def told(lap: Lap) -> str:
    """One line of a lap."""
    memory = ", ".join(
        f"{name} {resident / 2**20:.1f}" for name, resident in lap.resident_bytes.items()
    )
    rows = ", ".join(f"{name} {count:,}" for name, count in lap.rows.items())
    time = f"{lap.seconds / lap.jobs * 1000:.1f} ms a job"
    processor = f"{sum(lap.processor_seconds.values()) / lap.jobs * 1000:.1f} ms of processors"
    return f"{time}, {processor}; MiB: {memory}; rows: {rows}"


def show_change(laps: Sequence[Lap]) -> None:
    """The last lap beside the first."""
    first, last = laps[0], laps[-1]
    show_table(
        f"Time for each of {first.jobs:,} jobs",
        ("", "first", "last", "ratio"),
        [
            _times("time", first.seconds / first.jobs, last.seconds / last.jobs),
            *(
                _times(
                    f"processor time, {name}",
                    first.processor_seconds[name] / first.jobs,
                    last.processor_seconds[name] / last.jobs,
                )
                for name in first.processor_seconds
            ),
        ],
    )
    show_table(
        f"Resident memory after each {first.jobs:,} jobs",
        ("process", "first", "last", "ratio"),
        [
            _memory(name, before, last.resident_bytes[name])
            for name, before in first.resident_bytes.items()
        ],
    )


def _times(title: str, first: float, last: float) -> Sequence[str]:
    changed = ratio(last, first) if first else ""
    return title, f"{first * 1000:.1f} ms", f"{last * 1000:.1f} ms", changed


def _memory(title: str, first: int, last: int) -> Sequence[str]:
    return title, f"{first / 2**20:.1f} MiB", f"{last / 2**20:.1f} MiB", ratio(last, first)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--lap", type=int, default=LAP, help="jobs of which each is told")
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="jobs that don't count")
    return parser.parse_args()


if __name__ == "__main__":
    main()
