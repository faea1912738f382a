"""Twenty operators who restart, and a hundred job status messages a second, for a minute.

The messages report on jobs whose extractors were called before: starts and ends, and as many again
that come twice or too late. Each operator restarts a failed extraction of his once a second; each
restart is an extraction, or joins the one that runs. Then nobody asks for anything more, and the
service is to work off what waits. It ends with 1 when one of the claims does not hold.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load_stack import LoadStack, running_load
from benchmarks.operators import Answer, all_good, by_status, restart_side_by_side
from benchmarks.report import show_circumstances, show_table
from benchmarks.spread import Spread
from benchmarks.status_messages import EACH, plan_messages, send_planned
from shared.domain.jobs import JobStatus

OPERATORS = 20
MESSAGES_A_SECOND = 100
SECONDS = 60
FAST_ENOUGH = 0.98
"""Whoever puts the load on is on the same machine, and may be a little late at the end."""

EMPTY_SECONDS = 60.0
LONGEST_SECONDS = 900.0
"""How long the end is waited for: a claim that does not hold is told with its figure."""


@dataclass(frozen=True)
class Outcome:
    """What a load came to."""

    answers: Sequence[Answer]
    wanted_a_second: float
    sent_a_second: float
    seconds: float
    backlog: Mapping[str, int]
    empty_after: float
    dead_letters: int
    jobs: Mapping[str, int]

    def claims(self) -> Mapping[str, bool]:
        """What is to hold, in words, and whether it does."""
        return {
            f"{self.wanted_a_second:g} messages a second were sent": (
                self.sent_a_second >= self.wanted_a_second * FAST_ENOUGH
            ),
            "no answer but 2xx": all_good(self.answers),
            f"nothing waits or runs {EMPTY_SECONDS:.0f} s after": self.empty_after <= EMPTY_SECONDS,
            "no dead letter": self.dead_letters == 0,
            "every job has succeeded": set(self.jobs) == {JobStatus.SUCCEEDED},
        }


def main() -> int:
    """Run the load and print what came of it: 0 when all claims hold, else 1."""
    options = _options()
    show_circumstances()
    with tempfile.TemporaryDirectory() as folder, running_load(Path(folder) / "data") as stack:
        outcome = run_load(stack, options.operators, options.messages, options.seconds)
    show_outcome(outcome)
    return 0 if all(outcome.claims().values()) else 1


def run_load(stack: LoadStack, operators: int, messages: int, seconds: int) -> Outcome:
    """Put the load on, and wait until all of it is worked off."""
    entity_ids = stack.failed_entities(operators)
    jobs = stack.waiting_jobs(messages * seconds // EACH)
    planned = list(plan_messages(jobs, at_once=messages // EACH))
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send_planned, stack.statuses, planned, messages)
        answers = restart_side_by_side(stack.settings, entity_ids, seconds)
        sent_a_second = sending.result()
    backlog = stack.backlog.counts()
    empty_after = stack.wait_until_done(LONGEST_SECONDS)
    return Outcome(
        answers=answers,
        wanted_a_second=messages,
        sent_a_second=sent_a_second,
        seconds=seconds,
        backlog=backlog,
        empty_after=empty_after,
        dead_letters=stack.backlog.dead_letters(),
        jobs=stack.jobs_by_status(),
    )


def show_outcome(outcome: Outcome) -> None:
    """Print figures and claims."""
    show_table(
        "Answers to restarts",
        ("status", "number"),
        [(str(status or "none"), f"{n:,}") for status, n in by_status(outcome.answers).items()],
    )
    spread = Spread.of([answer.seconds for answer in outcome.answers])
    show_table(
        f"The restart endpoint, {spread.count / outcome.seconds:.0f} restarts/s beside"
        f" {outcome.sent_a_second:.0f} job status messages/s",
        ("restarts", "p50", "p95", "p99"),
        [
            (
                f"{spread.count:,}",
                *(f"{each * 1000:.0f} ms" for each in (spread.p50, spread.p95, spread.p99)),
            )
        ],
    )
    show_table(
        "What waited when nobody asked for more",
        ("topic", "messages"),
        [(topic, f"{count:,}") for topic, count in outcome.backlog.items()],
    )
    print(f"\nNothing waits or runs after {outcome.empty_after:.1f} s. Jobs: {dict(outcome.jobs)}.")
    show_table(
        "Claims",
        ("claim", "holds"),
        [(claim, "yes" if holds else "NO") for claim, holds in outcome.claims().items()],
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load")
    parser.add_argument("--operators", type=int, default=OPERATORS)
    parser.add_argument("--messages", type=int, default=MESSAGES_A_SECOND, help="a second")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
