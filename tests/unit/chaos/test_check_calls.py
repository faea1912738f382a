"""When the chaos run's check lets a job be called again."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.chaos.call_log import SeenCall
from tests.chaos.check_calls import Repeats, check_calls
from tests.chaos.journal import Failure, Kind
from tests.chaos.rows import Note
from tests.chaos.timing import REAL

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
JOB = "job"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def call(arrived: float, took: float = 0.1, answer: int | None = 202) -> SeenCall:
    return SeenCall(at(arrived), at(arrived + took), answer)


def failure(kind: Kind, part: str, begins: float, ends: float) -> Failure:
    return Failure(kind, part, at(begins), at(ends))


def record(seconds: float, outcome: str = "taken") -> Note:
    return Note(JOB, at(seconds), {"outcome": outcome})


def judged(*calls: SeenCall, records: tuple[Note, ...] = (), failed: tuple[Failure, ...] = ()):
    return check_calls({JOB: calls}, records, failed, REAL)


def excuses(repeats: Repeats) -> list[str]:
    assert repeats.doubled == []
    return list(repeats.excused)


def test_one_call_is_what_is_wanted() -> None:
    assert judged(call(0), records=(record(0.2),)) == Repeats()


def test_a_second_call_without_a_reason_is_found() -> None:
    assert len(judged(call(0), call(5, answer=409)).doubled) == 1


def test_a_call_recorded_as_taken_twice_is_found_whatever_happened() -> None:
    kill = failure(Kind.KILLED, "extractor", 0, 1)
    found = judged(call(0), call(5), records=(record(0.2), record(5.2)), failed=(kill,))
    assert len(found.doubled) == 1


def test_a_host_killed_before_its_record_may_call_again_when_the_call_is_over() -> None:
    kill = failure(Kind.KILLED, "host", 0.05, 3)
    assert excuses(judged(call(0), call(30, answer=409), failed=(kill,))) == [
        "the host was killed before its record"
    ]


def test_not_while_the_call_may_be_under_way() -> None:
    kill = failure(Kind.KILLED, "host", 0.05, 3)
    assert len(judged(call(0), call(29, answer=409), failed=(kill,)).doubled) == 1


def test_nor_when_the_answer_was_recorded() -> None:
    kill = failure(Kind.KILLED, "host", 1, 3)
    found = judged(call(0), call(60, answer=409), records=(record(0.2),), failed=(kill,))
    assert len(found.doubled) == 1


@pytest.mark.parametrize(
    ("first", "failed", "excuse"),
    [
        (call(0, answer=None), (), "the extractor hung up"),
        (call(0, took=35), (), "the answer came too late"),
        (
            call(0),
            (failure(Kind.PAUSED, "extractor", 0.05, 31),),
            "the answer came too late",
        ),
        (
            call(0),
            (failure(Kind.KILLED, "extractor", 0.05, 1),),
            "the extractor was killed before its answer arrived",
        ),
    ],
)
def test_an_answer_that_was_lost_is_an_excuse(
    first: SeenCall, failed: tuple[Failure, ...], excuse: str
) -> None:
    assert excuses(judged(first, call(40, answer=409), failed=failed)) == [excuse]


@pytest.mark.parametrize("part", ["servicebus", "identity", "blob"])
def test_the_death_of_another_part_is_none(part: str) -> None:
    kill = failure(Kind.KILLED, part, 0.05, 1)
    assert len(judged(call(0), call(60, answer=409), failed=(kill,)).doubled) == 1
