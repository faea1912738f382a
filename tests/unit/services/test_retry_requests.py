"""What became of requests, over their whole lives."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from shared.domain.jobs import Job
from shared.domain.retries import FileOutcome, RequestState
from shared.services import retry_requests
from shared.services.retry_requests import RequestView
from tests.database import add_file
from tests.unit.services.world import REFUSED, World


def found(world: World, request: str = "r1") -> RequestView:
    view = world.requests.find(request)
    assert view
    return view


def listed(world: World, **wanted: Any) -> list[str]:
    return [view.first.request_id for view in world.requests.search(**wanted)]


def ends(world: World, job: Job, type_: str) -> None:
    """The extractor reports the end, and what it has to say is sent."""
    world.reported(job, type_, ErrorMessage="no text")
    world.send_outbox(job.job_id)


@pytest.fixture
def failed(world: World) -> World:
    """The file's first extraction was refused, a minute ago."""
    world.answers = [REFUSED]
    world.calls(world.accepted())
    world.passes(minutes=1)
    return world


def test_a_request_that_has_not_arrived_is_none(world: World) -> None:
    assert world.requests.find("r1") is None
    assert world.requests.search() == []


def test_a_request_goes_from_queued_to_succeeded(failed: World) -> None:
    (job,) = failed.retried().jobs
    assert found(failed).state is RequestState.QUEUED
    failed.calls(job)
    failed.reported(job, "JobStarted")
    assert found(failed).state is RequestState.RUNNING
    ends(failed, job, "JobSucceeded")
    view = found(failed)
    assert view.state is RequestState.SUCCEEDED
    (attempt,) = view.attempts
    assert attempt.request.closed_at == failed.now
    assert [(file.outcome, file.job_id) for file in attempt.files] == [
        (FileOutcome.SUCCEEDED, job.job_id)
    ]


def test_a_failed_attempt_waits_for_the_next_one_until_there_is_none(failed: World) -> None:
    for number in (1, 2, 3):
        (job,) = failed.retried(attempt=number).jobs
        assert found(failed).state is RequestState.QUEUED
        ends(failed, job, "JobFailed")
        if number < 3:
            assert found(failed).state is RequestState.WAITING, "also before the mapper has come"
            message = failed.mapped()
            assert message
            assert found(failed).state is RequestState.WAITING
            assert found(failed).next_attempt_at == message.not_before
            failed.passes(hours=1)
    assert failed.mapped() is None
    view = found(failed)
    assert view.state is RequestState.FAILED
    assert view.next_attempt_at is None
    assert [attempt.request.retry_attempt for attempt in view.attempts] == [1, 2, 3]
    assert [attempt.files[0].error for attempt in view.attempts] == ["no text"] * 3
    assert view.first.asked_at == failed.now - timedelta(hours=2)


def test_what_succeeded_in_an_earlier_attempt_counts(failed: World) -> None:
    add_file(failed.sql, document_hash="hash-2")
    one, two = failed.retried(failed.file.document_hash, "hash-2").jobs
    ends(failed, one, "JobSucceeded")
    assert found(failed).state is RequestState.RUNNING
    ends(failed, two, "JobFailed")
    message = failed.mapped()
    assert message
    (again,) = failed.retried(*json.loads(message.body)["fileIds"], attempt=2).jobs
    ends(failed, again, "JobSucceeded")
    assert found(failed).state is RequestState.SUCCEEDED


def test_what_failed_for_good_leaves_a_request_partial(failed: World) -> None:
    (job,) = failed.retried("unknown", failed.file.document_hash).jobs
    ends(failed, job, "JobSucceeded")
    assert found(failed).state is RequestState.PARTIAL


def test_a_request_that_waits_for_anothers_job_runs_with_it(world: World) -> None:
    job = world.accepted()
    world.retried()
    assert found(world).state is RequestState.QUEUED
    world.reported(job, "JobStarted")
    assert found(world).state is RequestState.RUNNING


def test_the_newest_requests_come_first_whatever_their_attempts(failed: World) -> None:
    (job,) = failed.retried(request="first").jobs
    ends(failed, job, "JobFailed")
    failed.passes(minutes=1)
    failed.retried("unknown", request="second")
    failed.passes(minutes=1)
    failed.retried(request="first", attempt=2)
    assert listed(failed) == ["second", "first"]


def test_requests_are_found_by_whom_since_and_state(failed: World) -> None:
    failed.retried("unknown", request="old")
    failed.passes(minutes=1)
    moment = failed.now
    failed.retried(request="new")
    assert listed(failed, initiated_by="ada@example.com") == ["new", "old"]
    assert listed(failed, initiated_by="nobody@example.com") == []
    assert listed(failed, since=moment) == ["new"]
    assert listed(failed, state=RequestState.QUEUED) == ["new"]
    assert listed(failed, state=RequestState.FAILED) == ["old"]
    assert listed(failed, state=RequestState.FAILED, since=moment) == []


def test_a_state_is_looked_for_behind_the_newest_requests(
    failed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry_requests, "LONGEST_LIST", 3)
    failed.retried(request="queued")
    for number in range(7):
        failed.passes(minutes=1)
        failed.retried("unknown", request=f"failed-{number}")
    assert listed(failed, state=RequestState.QUEUED) == ["queued"]
    assert listed(failed, state=RequestState.FAILED) == ["failed-6", "failed-5", "failed-4"]
    assert listed(failed) == ["failed-6", "failed-5", "failed-4"]


def test_a_list_costs_the_same_few_queries_however_long_it_is(failed: World) -> None:
    def cost() -> int:
        queries: list[str] = []

        def note(*args: Any) -> None:
            queries.append(args[2])

        event.listen(failed.sql.engine, "before_cursor_execute", note)
        failed.requests.search()
        event.remove(failed.sql.engine, "before_cursor_execute", note)
        return len(queries)

    failed.retried("a", "b")
    few = cost()
    for number in range(20):
        failed.retried("a", "b", "c", request=f"other-{number}")
    assert cost() == few
