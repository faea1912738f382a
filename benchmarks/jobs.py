"""Jobs through the whole stack, with an extractor that succeeds at once.

Files are stored first; then the clock runs from the first announcement until the Status service has
heard of every end and no orchestration is live. All rounds are of one stack, one after the other.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.report import Row, ratio, show_circumstances, show_table
from benchmarks.stack import MeasuredStack, Round, running_stack

WARM_UP = 10
FEW, HUNDRED, THOUSAND = 10, 100, 1000
REPEATS = {FEW: 7, HUNDRED: 5, THOUSAND: 1}
"""Rounds of each size; their median counts."""


def main() -> None:
    """Run all rounds, and print what they took, what stayed in memory, and the activities."""
    show_circumstances()
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder) / "data") as stack:
        stack.run(WARM_UP)
        few = _rounds(stack, FEW)
        hundred = _rounds(stack, HUNDRED)
        after_hundred = stack.resident_bytes()
        thousand = _rounds(stack, THOUSAND)
        after_thousand = stack.resident_bytes()
        again = _rounds(stack, HUNDRED)
        behind = len(stack.job_ids)
        activities = stack.activities()
    _show_times(few, hundred, thousand, again)
    _show_processes(hundred, thousand, after_hundred, after_thousand)
    print(f"\nActivities per job: {activities / behind:.3f} ({activities:,} of {behind:,} jobs)")


def _rounds(stack: MeasuredStack, jobs: int) -> Sequence[Round]:
    return [stack.run(jobs) for _ in range(REPEATS[jobs])]


def _show_times(
    few: Sequence[Round],
    hundred: Sequence[Round],
    thousand: Sequence[Round],
    again: Sequence[Round],
) -> None:
    show_table(
        "Jobs through the whole stack",
        ("jobs at once", "rounds", "time per job", "ratio", "processor time per job", "ratio"),
        [
            _time_row(f"{FEW}", few, few),
            _time_row(f"{HUNDRED}, against {FEW}", hundred, few),
            _time_row(f"{THOUSAND:,}, against {HUNDRED}", thousand, hundred),
            _time_row(f"{HUNDRED} after these, against {HUNDRED} before", again, hundred),
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


def _show_processes(
    hundred: Sequence[Round],
    thousand: Sequence[Round],
    after_hundred: Mapping[str, int],
    after_thousand: Mapping[str, int],
) -> None:
    show_table(
        f"Each process: the rounds of {HUNDRED}, and that of {THOUSAND:,} after them",
        (
            "process",
            *("processor time per job", "then", "ratio"),
            *("resident memory", "then", "ratio"),
        ),
        [
            (
                name,
                *_pair(_processor(hundred, name) * 1000, _processor(thousand, name) * 1000, "ms"),
                *_pair(after_hundred[name] / 2**20, after_thousand[name] / 2**20, "MiB"),
            )
            for name in after_hundred
        ],
    )


def _processor(rounds: Sequence[Round], process: str) -> float:
    return median(each.processor_seconds[process] / each.jobs for each in rounds)


def _pair(before: float, after: float, unit: str) -> Row:
    changed = ratio(after, before) if before else ""
    return f"{before:.1f} {unit}", f"{after:.1f} {unit}", changed


if __name__ == "__main__":
    main()
