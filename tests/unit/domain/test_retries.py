"""When what failed is tried again, which job answers a retry, and how a request stands."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from shared.domain.jobs import Job, JobStatus
from shared.domain.retries import (
    FileOutcome,
    RequestState,
    RetryFile,
    RetryPolicy,
    RetryRequest,
    attempt_id,
    automatic_request_id,
    backoff,
    has_successor,
    request_state,
    retry_job_id,
    settled_by,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
POLICY = RetryPolicy(
    automatic=True, first_backoff=timedelta(seconds=30), longest_backoff=timedelta(hours=1)
)
FILE = UUID("66666666-7777-4888-9999-aaaaaaaaaaaa")


# Backoff


@pytest.mark.parametrize(
    ("failed_attempt", "seconds"),
    [(1, 30), (2, 60), (3, 120), (7, 1920), (8, 3600), (9, 3600), (2**31 - 1, 3600)],
)
def test_pauses_double_up_to_the_longest(failed_attempt: int, seconds: int) -> None:
    assert backoff(POLICY, failed_attempt, jitter=0) == timedelta(seconds=seconds)


@pytest.mark.parametrize(("jitter", "seconds"), [(0, 30), (0.5, 33), (1, 36)])
def test_jitter_adds_up_to_a_fifth(jitter: float, seconds: int) -> None:
    assert backoff(POLICY, 1, jitter) == timedelta(seconds=seconds)


# Ids


def test_the_same_attempt_of_the_same_file_is_the_same_job() -> None:
    assert retry_job_id("r1", 1, FILE) == retry_job_id("r1", 1, FILE)


def test_another_request_attempt_or_file_is_another_id() -> None:
    ids = {
        retry_job_id("r1", 1, FILE),
        retry_job_id("r1", 2, FILE),
        retry_job_id("r2", 1, FILE),
        retry_job_id("r1", 1, uuid4()),
        attempt_id("r1", 1),
        attempt_id("r1", 2),
        UUID(automatic_request_id(FILE)),
    }
    assert len(ids) == 7


# Which job answers


def job(status: JobStatus, completed_at: datetime | None = None) -> Job:
    return Job(uuid4(), FILE, 1, status, NOW, NOW, completed_at=completed_at)


def test_a_success_since_the_request_is_its_answer() -> None:
    succeeded = job(JobStatus.SUCCEEDED, NOW + SECOND)
    assert settled_by([job(JobStatus.FAILED, NOW + SECOND), succeeded], NOW) is succeeded
    at_that_moment = job(JobStatus.SUCCEEDED, NOW)
    assert settled_by([at_that_moment], NOW) is at_that_moment


def test_a_success_from_before_the_request_is_none() -> None:
    assert settled_by([job(JobStatus.SUCCEEDED, NOW - SECOND)], NOW) is None


@pytest.mark.parametrize("status", [JobStatus.QUEUED, JobStatus.STARTED])
def test_an_active_job_will_be_the_answer(status: JobStatus) -> None:
    active = job(status)
    assert settled_by([job(JobStatus.SUCCEEDED, NOW - SECOND), active], NOW) is active


def test_a_success_goes_before_an_active_job() -> None:
    succeeded = job(JobStatus.SUCCEEDED, NOW + SECOND)
    assert settled_by([job(JobStatus.QUEUED), succeeded], NOW) is succeeded


@pytest.mark.parametrize("status", [JobStatus.FAILED, JobStatus.CANCELLED])
def test_a_job_that_ended_otherwise_is_none(status: JobStatus) -> None:
    assert settled_by([job(status, NOW + SECOND)], NOW) is None


# How a request stands

OPEN = RetryRequest(
    request_id="r1",
    retry_attempt=1,
    max_retries=3,
    reason="manual_restart",
    initiated_by="ada@example.com",
    client_application_id="web-console",
    asked_at=NOW,
    created_at=NOW,
    trace_parent="",
    pending=1,
)
CLOSED = replace(OPEN, pending=0, closed_at=NOW)
SCHEDULED = replace(CLOSED, next_attempt_at=NOW + SECOND)
LAST = replace(CLOSED, retry_attempt=3)

PENDING = RetryFile("r1", 1, "pending")
GOOD = RetryFile("r1", 1, "good", outcome=FileOutcome.SUCCEEDED)
BAD = RetryFile("r1", 1, "bad", outcome=FileOutcome.FAILED, error="not found")
MAY_PASS = RetryFile("r1", 1, "may pass", outcome=FileOutcome.FAILED, retryable=True)


@pytest.mark.parametrize(
    ("latest", "files", "begun", "state"),
    [
        (OPEN, [PENDING], False, RequestState.QUEUED),
        (OPEN, [PENDING], True, RequestState.RUNNING),
        (OPEN, [PENDING, MAY_PASS], True, RequestState.RUNNING),
        (CLOSED, [GOOD], True, RequestState.SUCCEEDED),
        (CLOSED, [GOOD, BAD], True, RequestState.PARTIAL),
        (CLOSED, [BAD], False, RequestState.FAILED),
        (CLOSED, [GOOD, MAY_PASS], True, RequestState.WAITING),
        (CLOSED, [MAY_PASS], True, RequestState.WAITING),
        (SCHEDULED, [GOOD, MAY_PASS], True, RequestState.WAITING),
        (SCHEDULED, [MAY_PASS], True, RequestState.WAITING),
        (LAST, [GOOD, MAY_PASS], True, RequestState.PARTIAL),
        (LAST, [MAY_PASS], True, RequestState.FAILED),
        (replace(LAST, max_retries=0), [MAY_PASS], True, RequestState.FAILED),
    ],
)
def test_a_request_stands_as_its_latest_attempt_and_the_last_of_every_file(
    latest: RetryRequest, files: list[RetryFile], begun: bool, state: RequestState
) -> None:
    assert request_state(latest, {file.file_ref: file for file in files}, begun) is state


@pytest.mark.parametrize(
    ("attempt", "files", "follows"),
    [
        (CLOSED, [GOOD, MAY_PASS], True),
        (replace(CLOSED, retry_attempt=2), [MAY_PASS], True),
        (LAST, [MAY_PASS], False),
        (CLOSED, [GOOD, BAD], False),
        (CLOSED, [], False),
    ],
)
def test_another_attempt_follows_while_something_may_pass_and_attempts_are_left(
    attempt: RetryRequest, files: list[RetryFile], follows: bool
) -> None:
    assert has_successor(attempt, files) is follows
