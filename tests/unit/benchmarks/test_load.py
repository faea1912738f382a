"""What the load sends, and what it claims."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from benchmarks.load import EMPTY_SECONDS, Outcome
from benchmarks.operators import NO_ANSWER, Answer, by_status
from benchmarks.status_messages import EACH, Planned, plan_messages

JOBS = [UUID(int=number) for number in range(1, 6)]
GOOD = Outcome(
    answers=[Answer(200, 0.1)],
    wanted_a_second=100,
    sent_a_second=99.9,
    seconds=60,
    backlog={},
    empty_after=EMPTY_SECONDS,
    dead_letters=0,
    jobs={"Succeeded": 3},
)


def of_job(planned: Sequence[Planned], job_id: UUID) -> list[tuple[bool, bool]]:
    return [(each.succeeded, each.again) for each in planned if each.job_id == job_id]


def test_a_job_is_started_and_ended_and_both_come_again_in_the_wrong_order() -> None:
    planned = list(plan_messages(JOBS, at_once=2))

    assert len(planned) == EACH * len(JOBS)
    for job_id in JOBS:
        assert of_job(planned, job_id) == [
            (False, False),
            (True, False),
            (True, True),
            (False, True),
        ]


def test_jobs_are_under_way_side_by_side() -> None:
    planned = list(plan_messages(JOBS, at_once=2))

    assert [each.job_id.int for each in planned[:8]] == [1, 2, 1, 2, 1, 2, 1, 2]


def test_what_comes_again_is_the_same_message_under_another_id() -> None:
    first, again = (Planned(JOBS[0], True, again).made() for again in (False, True))

    assert (first.subject, again.subject) == ("JobSucceeded", "JobSucceeded")
    assert first.message_id == f"{JOBS[0]}:Succeeded"
    assert again.message_id != first.message_id


def test_answers_are_counted_by_status() -> None:
    answers = [Answer(200, 0.1), Answer(500, 0.1), Answer(200, 0.3)]

    assert by_status(answers) == {200: 2, 500: 1}


def test_all_claims_of_a_good_load_hold() -> None:
    assert all(GOOD.claims().values())


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        ("100 messages a second were sent", replace(GOOD, sent_a_second=80)),
        ("no answer but 2xx", replace(GOOD, answers=[Answer(200, 0.1), Answer(503, 0.1)])),
        ("no answer but 2xx", replace(GOOD, answers=[Answer(200, 0.1), Answer(NO_ANSWER, 60)])),
        ("no answer but 2xx", replace(GOOD, answers=[])),
        ("nothing waits or runs 60 s after", replace(GOOD, empty_after=EMPTY_SECONDS + 0.1)),
        ("no dead letter", replace(GOOD, dead_letters=1)),
        ("every job has succeeded", replace(GOOD, jobs={"Succeeded": 3, "Failed": 1})),
        ("every job has succeeded", replace(GOOD, jobs={})),
    ],
)
def test_a_claim_that_does_not_hold_is_told(claim: str, outcome: Outcome) -> None:
    assert [each for each, holds in outcome.claims().items() if not holds] == [claim]
