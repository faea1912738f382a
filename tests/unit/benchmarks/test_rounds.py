"""What is made of the stamps of a load."""

from datetime import UTC, datetime

import pytest

from benchmarks.rounds import Leg, Round, summed_up
from benchmarks.stamps import Stamps, Step

NOW = datetime(2024, 1, 31, tzinfo=UTC)


def stamped(ends: list[float]) -> tuple[Stamps, list[str]]:
    """Jobs that were due a second apart; each ended at its time, every other one by call-back."""
    stamps = Stamps()
    jobs = [f"job {number}" for number in range(len(ends))]
    for number, (job, end) in enumerate(zip(jobs, ends, strict=True)):
        told = Step.REPORTED_BY_CALL if number % 2 else Step.REPORTED_ON_TOPIC
        stamps.note(job, Step.DUE, number)
        stamps.note(job, Step.CALLED, number + 0.25)
        stamps.note(job, told, end - 0.5)
        stamps.note(job, Step.RECORDED, end)
        stamps.note(job, Step.ANNOUNCED, end + 0.25)
    return stamps, jobs


def round_of(ends: list[float], rate: float = 1.0) -> Round:
    stamps, jobs = stamped(ends)
    return summed_up(stamps, jobs, rate, NOW)


def test_every_leg_counts_the_jobs_that_went_its_way() -> None:
    legs = round_of([1, 2, 3, 4, 5]).legs

    assert {leg: (spread.count, spread.p50) for leg, spread in legs.items()} == {
        Leg.CALLED: (5, 0.25),
        Leg.TOPIC_RECORDED: (3, 0.5),
        Leg.CALL_RECORDED: (2, 0.5),
        Leg.CALL_ANNOUNCED: (2, 0.75),
    }


def test_a_load_is_held_when_what_is_open_at_its_end_has_only_just_come() -> None:
    found = round_of([0.8, 1.8, 2.8, 3.8])

    assert (found.open_jobs, found.held) == (1, True)


def test_a_load_that_leaves_a_backlog_is_not_held() -> None:
    found = round_of([0.8, 6, 7, 8])

    assert (found.open_jobs, found.seconds_after, found.held) == (3, 5, False)
    assert found.done_rate == 0.5


def test_what_was_seen_first_counts() -> None:
    stamps = Stamps()
    stamps.note("job", Step.CALLED, 1.0)
    stamps.note("job", Step.CALLED, 2.0)

    assert stamps.times(["job", "another"], Step.CALLED) == [1.0]


def test_a_step_that_is_not_seen_is_named() -> None:
    stamps = Stamps()
    stamps.note("job", Step.RECORDED, 1.0)

    with pytest.raises(RuntimeError, match="1 steps are missing; of job job: the end is received"):
        stamps.wait_for(["job"], (Step.RECORDED, Step.ANNOUNCED), seconds=0)
