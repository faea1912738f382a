"""Jobs through the whole stack, with an extractor that succeeds at once.

Files are stored first; then the clock runs from the first announcement until the Status service has
heard of every end and no orchestration is live. All rounds are of one stack, one after the other.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.report import Row, ratio, show_circumstances, show_table
from benchmarks.stack import MeasuredStack, Round, running_stack

WARM_UP = 10
FEW, HUNDRED, THOUSAND = 10, 100, 1000
REPEATS = {FEW: 7, HUNDRED: 5, THOUSAND: 1}
"""Rounds of each size; their median counts.

Those of a hundred are run before the thousand and again after it. Both together are what the
thousand is compared with, so that a machine that gets busier meanwhile is no growth; one against
the other shows what a thousand ended jobs weigh.
"""


def main() -> None:
    """Run all rounds, and print what they took, what stayed in memory, and the activities."""
    show_circumstances()
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder) / "data") as stack:
        stack.run(WARM_UP)
        few = _rounds(stack, FEW)
        before = _rounds(stack, HUNDRED)
        thousand = _rounds(stack, THOUSAND)
        after = _rounds(stack, HUNDRED)
        jobs, activities = len(stack.job_ids), stack.activities()
    _show_times(few, before, thousand, after)
    _show_processors([*before, *after], thousand)
    _show_memory(before[0], thousand[0])
    print(f"\nActivities per job: {activities / jobs:.3f} ({activities:,} in {jobs:,} jobs)")


def _rounds(stack: MeasuredStack, jobs: int) -> Sequence[Round]:
    return [stack.run(jobs) for _ in range(REPEATS[jobs])]


def _show_times(
    few: Sequence[Round],
    before: Sequence[Round],
    thousand: Sequence[Round],
    after: Sequence[Round],
) -> None:
    show_table(
        "Jobs through the whole stack: time for each, and processor time of all processes",
        ("jobs at once", "rounds", "time", "ratio", "processor time", "ratio"),
        [
            _time_row(f"{FEW}", few, few),
            _time_row(f"{HUNDRED}, against {FEW}", before, few),
            _time_row(f"{THOUSAND:,}, against {HUNDRED}", thousand, [*before, *after]),
            _time_row(f"{HUNDRED} afterwards, against {HUNDRED} before", after, before),
        ],
    )


def _time_row(title: str, rounds: Sequence[Round], base: Sequence[Round]) -> Row:
    time, base_time = (median(each.per_job for each in group) for group in (rounds, base))
    processor, base_processor = (
        median(each.processor_per_job for each in group) for group in (rounds, base)
    )
    return (
        title,
        str(len(rounds)),
        f"{time * 1000:.1f} ms",
        ratio(time, base_time),
        f"{processor * 1000:.1f} ms",
        ratio(processor, base_processor),
    )


def _show_processors(hundred: Sequence[Round], thousand: Sequence[Round]) -> None:
    show_table(
        "Processor time of each process for a job",
        ("process", f"{HUNDRED} at once", f"{THOUSAND:,} at once", "ratio"),
        [
            (name, *_pair(_milliseconds(hundred, name), _milliseconds(thousand, name), "ms"))
            for name in hundred[0].processor_seconds
        ],
    )


def _show_memory(hundred: Round, thousand: Round) -> None:
    show_table(
        "Resident memory of each process",
        ("process", f"after {HUNDRED} jobs", f"after {THOUSAND:,} more", "ratio"),
        [
            (name, *_pair(_mebibytes(hundred, name), _mebibytes(thousand, name), "MiB"))
            for name in hundred.resident_bytes
        ],
    )


def _milliseconds(rounds: Sequence[Round], process: str) -> float:
    return median(each.processor_seconds[process] / each.jobs for each in rounds) * 1000


def _mebibytes(round_: Round, process: str) -> float:
    return round_.resident_bytes[process] / 2**20


def _pair(before: float, after: float, unit: str) -> Row:
    changed = ratio(after, before) if before else ""
    return f"{before:.1f} {unit}", f"{after:.1f} {unit}", changed


if __name__ == "__main__":
    main()
