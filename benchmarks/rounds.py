"""One load for one target: files that arrive at a rate, and what was seen of their jobs."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from benchmarks.arrivals import arrivals, keep_to
from benchmarks.latency_stack import LatencyStack, Target
from benchmarks.spread import Spread
from benchmarks.stamps import Stamps, Step

DONE_SECONDS = 900.0
QUIET_SECONDS = 2.0
"""What follows the last job's end, such as the end of its orchestration, is over by then."""

LATE_SECONDS = 1.0
"""A load is held when no more is under way at its end than arrives in this time."""


class Leg(Enum):
    """Where a latency begins, where it ends, and what a table calls it."""

    CALLED = (Step.DUE, Step.CALLED, "FileAccepted due to extractor called")
    TOPIC_RECORDED = (Step.REPORTED_ON_TOPIC, Step.RECORDED, "report on the topic to database")
    CALL_RECORDED = (Step.REPORTED_BY_CALL, Step.RECORDED, "report by call-back to database")
    CALL_ANNOUNCED = (Step.REPORTED_BY_CALL, Step.ANNOUNCED, "report by call-back to topic")


@dataclass(frozen=True)
class Round:
    """What a load came to: jobs a second, and seconds.

    `open_jobs` were under way when the last file arrived; `seconds_after` passed until none was.
    """

    rate: float
    jobs: int
    begun_at: datetime
    seconds: float
    open_jobs: int
    seconds_after: float
    legs: Mapping[Leg, Spread]

    @property
    def held(self) -> bool:
        """Whether the target kept up: what was open at the end had only just come."""
        return self.open_jobs <= self.rate * LATE_SECONDS

    @property
    def done_rate(self) -> float:
        """Jobs that ended in a second, from the first arrival to the last end."""
        return self.jobs / (self.seconds + self.seconds_after)


def run_round(stack: LatencyStack, target: Target, rate: float, seconds: float) -> Round:
    """Let files arrive at a rate for so long, and wait until all of it is over.

    Raises RuntimeError when a job does not come to its end.
    """
    files = target.store(round(rate * seconds))
    jobs = [str(file.job_id) for file in files]
    begun_at = datetime.now(UTC)

    def arrive(number: int, due: float) -> None:
        stack.stamps.note(jobs[number], Step.DUE, due)
        target.announce(files[number].file_id)

    keep_to(arrivals(rate, seconds), arrive)
    try:
        stack.stamps.wait_for(jobs, (Step.RECORDED, Step.ANNOUNCED), DONE_SECONDS)
    except RuntimeError as error:
        raise RuntimeError("; ".join([str(error), *stack.extractor.failures[:3]])) from None
    time.sleep(QUIET_SECONDS)
    return summed_up(stack.stamps, jobs, rate, begun_at)


def summed_up(stamps: Stamps, jobs: Sequence[str], rate: float, begun_at: datetime) -> Round:
    """The round of these jobs, in the order they arrived, all of which have ended."""
    due = stamps.times(jobs, Step.DUE)
    recorded = stamps.times(jobs, Step.RECORDED)
    return Round(
        rate=rate,
        jobs=len(jobs),
        begun_at=begun_at,
        seconds=due[-1] - due[0],
        open_jobs=sum(time > due[-1] for time in recorded),
        seconds_after=max(0.0, max(recorded) - due[-1]),
        legs={leg: Spread.of(stamps.spans(jobs, *leg.value[:2])) for leg in Leg},
    )
