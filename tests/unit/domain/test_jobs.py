"""The pure rules of a job."""

from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID

import pytest

from shared.domain.acceptance import satisfying_job
from shared.domain.deadlines import TimeLimits, too_late_message, waited_too_long
from shared.domain.extractor_calls import Reading, next_try, read_status
from shared.domain.jobs import ACTIVE, ENDS, PREDECESSORS, Call, Job, JobStatus, first_job_id
from shared.domain.tracking import standing, wake_up

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
FILE = UUID("66666666-7777-4888-9999-aaaaaaaaaaaa")
LIMITS = TimeLimits(
    call=timedelta(minutes=60),
    start=timedelta(minutes=15),
    run=timedelta(minutes=60),
    max_wait=timedelta(hours=48),
)


def a_job(number: int = 1, status: JobStatus = JobStatus.QUEUED, age_minutes: int = 0) -> Job:
    created = NOW - timedelta(minutes=age_minutes)
    return Job(UUID(int=number), FILE, 1, status, created, created)


def a_call(**fields: object) -> Call:
    return Call(**({"job_id": UUID(int=1), "trace_parent": "t", "due_at": NOW} | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(("before", "after"), list(product(JobStatus, JobStatus)))
def test_only_queued_and_started_jobs_change_and_never_backwards(
    before: JobStatus, after: JobStatus
) -> None:
    order = {JobStatus.QUEUED: 0, JobStatus.STARTED: 1} | dict.fromkeys(ENDS, 2)
    allowed = before in ACTIVE and order[after] > order[before]
    assert (before in PREDECESSORS[after]) == allowed


def test_the_same_file_and_content_are_the_same_job() -> None:
    assert first_job_id(FILE, "hash") == first_job_id(UUID(str(FILE).upper()), "hash")
    assert first_job_id(FILE, "hash") != first_job_id(FILE, "other")
    assert first_job_id(FILE, "hash").version == 5


def test_the_job_of_this_content_answers_a_message_even_when_it_ended_long_ago() -> None:
    old = a_job(1, JobStatus.FAILED, age_minutes=600)
    assert satisfying_job([old], old.job_id, enqueued_at=NOW) == old


def test_an_active_job_of_the_file_answers_a_message() -> None:
    active = a_job(2, JobStatus.STARTED, age_minutes=600)
    assert satisfying_job([active], UUID(int=1), enqueued_at=NOW) == active


def test_a_job_made_after_the_message_answers_it() -> None:
    newer = a_job(2, JobStatus.SUCCEEDED, age_minutes=5)
    assert satisfying_job([newer], UUID(int=1), NOW - timedelta(minutes=6)) == newer


def test_new_content_after_an_ended_job_needs_a_job() -> None:
    ended = a_job(2, JobStatus.SUCCEEDED, age_minutes=5)
    assert satisfying_job([ended], UUID(int=1), NOW - timedelta(minutes=4)) is None
    assert satisfying_job([], UUID(int=1), NOW) is None


@pytest.mark.parametrize(
    ("status", "reading"),
    [(200, Reading.TAKEN), (202, Reading.TAKEN), (204, Reading.TAKEN), (409, Reading.TAKEN)]
    + [(status, Reading.PASSING) for status in (408, 425, 429, 500, 502, 503, 504, 599)]
    + [(status, Reading.REFUSED) for status in (301, 302, 304, 400, 401, 403, 404, 410, 422)],
)
def test_every_answer_of_an_extractor_has_one_reading(status: int, reading: Reading) -> None:
    assert read_status(status) is reading


def test_pauses_double_up_to_five_minutes() -> None:
    pauses = [(next_try(tries, None, NOW) - NOW).total_seconds() for tries in range(1, 10)]
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300]


@pytest.mark.parametrize(("asked", "given"), [(1, 5), (90, 90), (86_400, 3_600), (-5, 5)])
def test_retry_after_is_honoured_within_an_hour(asked: int, given: int) -> None:
    assert next_try(1, timedelta(seconds=asked), NOW) - NOW == timedelta(seconds=given)


@pytest.mark.parametrize(
    ("status", "words"), [(JobStatus.QUEUED, "start"), (JobStatus.STARTED, "finish")]
)
def test_the_message_says_which_time_ran_out(status: JobStatus, words: str) -> None:
    assert words in too_late_message(a_job(status=status), LIMITS)


def test_a_job_waits_48_hours_for_its_call_at_most() -> None:
    assert waited_too_long(a_job(age_minutes=48 * 60), LIMITS, NOW)
    assert not waited_too_long(a_job(age_minutes=48 * 60 - 1), LIMITS, NOW)


@pytest.mark.parametrize("status", sorted(ENDS))
def test_an_ended_job_stands_as_ended(status: JobStatus) -> None:
    step = standing(a_job(status=status), a_call(called_at=NOW), NOW)
    assert step is not None
    assert (step.kind, step.status) == ("ended", status)


@pytest.mark.parametrize(
    ("status", "called_at"), [(JobStatus.QUEUED, NOW), (JobStatus.STARTED, None)]
)
def test_a_taken_or_started_job_stands_as_taken_until_it_is_due(
    status: JobStatus, called_at: datetime | None
) -> None:
    due = NOW + timedelta(minutes=15)
    step = standing(a_job(status=status), a_call(called_at=called_at, due_at=due), NOW)
    assert step is not None
    assert (step.kind, step.until) == ("taken", due)


@pytest.mark.parametrize("field", ["lease_until", "due_at"])
def test_a_leased_or_pausing_job_is_looked_at_again_then(field: str) -> None:
    later = NOW + timedelta(seconds=40)
    step = standing(a_job(), a_call(**{field: later}), NOW)
    assert step is not None
    assert (step.kind, step.until) == ("again", later)


def test_a_job_that_nothing_holds_may_be_called() -> None:
    assert standing(a_job(), a_call(lease_until=NOW), NOW) is None


def test_wake_ups_leave_room_for_early_timers() -> None:
    assert wake_up(NOW + timedelta(minutes=1), NOW) == NOW + timedelta(minutes=1, seconds=1)
    assert wake_up(NOW - timedelta(minutes=1), NOW) == NOW + timedelta(seconds=6)
    assert wake_up(NOW + timedelta(days=9), NOW) == NOW + timedelta(days=1, seconds=1)
