"""The orchestration's decisions, made by the real durable library replaying a history."""

from datetime import timedelta

import pytest

from tests.unit.functions.orchestration import START, Instance, at

CALL, EXPIRE = "call_extractor", "expire_job"


@pytest.fixture
def job() -> Instance:
    return Instance().start()


def test_a_job_begins_with_the_call_of_its_extractor(job: Instance) -> None:
    assert job.activities == [CALL]
    assert job.answer["customStatus"] == "Queued"
    assert not job.answer["isDone"]


def test_the_happy_way_costs_one_activity(job: Instance) -> None:
    job.activity_answers("taken", until=at(900), status="Queued")
    job.raised("Started", at(3600))
    job.raised("Ended", "Succeeded")
    assert job.answer["isDone"]
    assert job.answer["output"] == job.answer["customStatus"] == "Succeeded"
    assert job.activities == [CALL]
    assert job.waits_until is None


@pytest.mark.parametrize("end", ["Succeeded", "Failed", "Cancelled"])
def test_an_end_raised_during_the_call_is_not_lost(job: Instance, end: str) -> None:
    job.raised("Started", at(3600)).raised("Ended", end)
    assert not job.answer["isDone"]
    job.activity_answers("taken", until=at(900), status="Started")
    assert job.answer["isDone"]
    assert job.answer["output"] == end


def test_a_call_that_finds_the_job_ended_ends_the_orchestration(job: Instance) -> None:
    job.activity_answers("ended", status="Failed")
    assert job.answer["isDone"]
    assert job.answer["output"] == "Failed"


def test_a_taken_job_is_looked_at_a_second_after_its_deadline(job: Instance) -> None:
    job.activity_answers("taken", until=at(900), status="Queued")
    assert job.waits_until == START + timedelta(seconds=901)
    job.timer_fires()
    assert job.activities == [CALL, EXPIRE]


def test_the_start_moves_the_deadline_to_the_end_of_the_run(job: Instance) -> None:
    job.activity_answers("taken", until=at(900), status="Queued")
    job.raised("Started", at(3600))
    assert job.answer["customStatus"] == "Started"
    assert job.waits_until == START + timedelta(seconds=3601)


def test_a_repeated_start_changes_nothing(job: Instance) -> None:
    job.activity_answers("taken", until=at(900), status="Queued")
    job.raised("Started", at(3600)).raised("Started", at(3600))
    assert job.waits_until == START + timedelta(seconds=3601)
    assert job.raised("Ended", "Succeeded").answer["output"] == "Succeeded"


def test_a_call_that_must_be_made_again_is_made_again_at_its_time(job: Instance) -> None:
    job.activity_answers("again", until=at(60), status="Queued")
    assert job.waits_until == START + timedelta(seconds=61)
    job.timer_fires()
    assert job.activities == [CALL, CALL]


def test_a_time_that_is_past_still_leaves_five_seconds(job: Instance) -> None:
    job.activity_answers("again", until=at(-100))
    assert job.waits_until == START + timedelta(seconds=6)


def test_no_timer_is_longer_than_a_day(job: Instance) -> None:
    job.activity_answers("taken", until=at(7 * 86400), status="Queued")
    assert job.waits_until == START + timedelta(days=1, seconds=1)


def test_a_failed_activity_is_tried_again(job: Instance) -> None:
    job.activity_fails()
    assert not job.answer["isDone"]
    job.timer_fires()
    assert job.activities == [CALL, CALL]
    job.activity_answers("ended", status="Failed")
    assert job.answer["output"] == "Failed"


def test_more_time_from_expire_is_waited_for(job: Instance) -> None:
    job.activity_answers("taken", until=at(900), status="Queued").timer_fires()
    job.activity_answers("taken", until=at(960), status="Queued")
    assert job.waits_until == START + timedelta(seconds=961)
    job.timer_fires().activity_answers("ended", status="Failed")
    assert job.answer["output"] == "Failed"


def test_a_job_that_expire_finds_uncalled_is_called(job: Instance) -> None:
    job.activity_answers("taken", until=at(900), status="Queued").timer_fires()
    job.activity_answers("again", until=at(900)).timer_fires()
    assert job.activities == [CALL, EXPIRE, CALL]


def test_an_end_during_a_pause_between_calls_ends_it(job: Instance) -> None:
    job.activity_answers("again", until=at(300)).raised("Ended", "Cancelled")
    assert job.answer["output"] == "Cancelled"
    assert job.waits_until is None


def test_an_event_raised_by_plain_http_is_read_as_well(job: Instance) -> None:
    job.activity_answers("taken", until=at(900), status="Queued")
    event = job._event(15, Name="Ended", Input='"Succeeded"')
    assert job._episode(event).answer["output"] == "Succeeded"


def test_after_fifty_rounds_it_continues_as_new_with_the_same_input(job: Instance) -> None:
    for _ in range(49):
        job.activity_answers("again", until=at(0)).timer_fires()
    job.activity_answers("again", until=at(0))
    assert not job.answer["isDone"]
    job.timer_fires()
    last = job.answer["actions"][0][-1]
    assert last["actionType"] == 4
    assert job.job_id in str(last["input"])
