"""Operators look at jobs and files, and cancel what should not go on."""

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import azure.functions as func
import pytest

from shared import wiring
from shared.auth import ForbiddenError
from shared.domain.extractor_health import FAILURES_TO_OPEN
from shared.domain.jobs import Job, JobStatus
from shared.functions import jobs
from tests.database import add_file, empty_database
from tests.unit.services.world import BUSY, LIMITS, World

FUNCTIONS = {
    "list": jobs.list_jobs,
    "job": jobs.get_job,
    "timeline": jobs.get_timeline,
    "cancel": jobs.cancel_job,
}

BEFORE_ALL_TIMES = b64encode(f"0001-01-01T00:00:00+14:00|{UUID(int=1)}".encode()).decode()
"""A cursor whose time does not exist in UTC."""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


def call(
    name: str, body: Any = None, params: dict[str, str] | None = None, **route: str
) -> tuple[int, Any]:
    """The status and the JSON that a function answers."""
    request = func.HttpRequest(
        "POST" if body is not None else "GET",
        "/",
        headers={"authorization": "Bearer good"},
        params=params or {},
        route_params=route,
        body=json.dumps(body).encode() if body is not None else b"",
    )
    response = FUNCTIONS[name]._function.get_user_function()(request)
    return response.status_code, json.loads(response.get_body())


def several(world: World, count: int) -> list[Job]:
    """Jobs of files of their own, a minute apart, oldest first."""
    made = []
    for number in range(count):
        world.passes(minutes=1)
        world.file = add_file(world.sql, document_hash=f"hash-{number}")
        made.append(world.accepted())
    return made


def ids(answer: Any) -> list[str]:
    return [job["jobId"] for job in answer["jobs"]]


def test_jobs_are_listed_newest_first_with_their_counts(world: World) -> None:
    first, second, third = several(world, 3)
    world.reported(first, "JobSucceeded")
    status, answer = call("list")
    assert status == 200
    assert ids(answer) == [str(job.job_id) for job in (third, second, first)]
    assert answer["counts"] == {"Queued": 2, "Succeeded": 1}
    assert "nextCursor" not in answer


def test_pages_are_stable_while_jobs_arrive(world: World) -> None:
    old = several(world, 5)
    _, page = call("list", params={"limit": "2"})
    seen = ids(page)
    several(world, 3)
    while page.get("nextCursor"):
        _, page = call("list", params={"limit": "2", "cursor": page["nextCursor"]})
        seen += ids(page)
    assert seen == [str(job.job_id) for job in reversed(old)]


FILTERS: dict[str, Callable[[World, Job], str]] = {
    "status": lambda world, job: "Started",
    "fileId": lambda world, job: str(job.file_id).upper(),
    "clientApplicationId": lambda world, job: "client-b",
    "requestId": lambda world, job: "r9",
    "createdSince": lambda world, job: job.created_at.isoformat(),
    "updatedSince": lambda world, job: (job.created_at + timedelta(seconds=1)).isoformat(),
}


@pytest.mark.parametrize("name", FILTERS)
def test_jobs_are_found_by(world: World, name: str) -> None:
    several(world, 2)
    world.passes(minutes=1)
    world.file = add_file(world.sql, client_application_id="client-b", document_hash="wanted")
    world.registered = [world.extractor]
    (job,) = world.retried("wanted", request="r9").jobs
    world.passes(seconds=1)
    world.reported(job, "JobStarted")
    _, answer = call("list", params={name: FILTERS[name](world, job)})
    assert ids(answer) == [str(job.job_id)]
    assert answer["counts"] == {"Started": 1}


def test_until_excludes_its_own_moment(world: World) -> None:
    first, second = several(world, 2)
    _, answer = call("list", params={"createdUntil": second.created_at.isoformat()})
    assert ids(answer) == [str(first.job_id)]


@pytest.mark.parametrize(
    "params",
    [
        {"status": "Running"},
        {"fileId": "not-a-guid"},
        {"createdSince": "yesterday"},
        {"createdSince": "2026-01-01T00:00:00"},
        {"limit": "0"},
        {"limit": "201"},
        {"limit": "many"},
        {"cursor": "nonsense"},
        {"cursor": "AAAA"},
        {"cursor": BEFORE_ALL_TIMES},
        {"extractorId": "one"},
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_by_name(
    world: World, params: dict[str, str]
) -> None:
    status, answer = call("list", params=params)
    assert status == 400
    assert next(iter(params)) in answer["message"]
    assert next(iter(params.values())) not in answer["message"].replace(next(iter(params)), "")


def test_a_job_tells_its_row_its_history_and_what_happens_next(world: World) -> None:
    world.answers = [BUSY]
    job = world.accepted()
    world.calls(job)
    status, answer = call("job", jobId=str(job.job_id))
    assert status == 200
    assert (answer["status"], answer["attempt"]) == ("Queued", 1)
    assert [event["kind"] for event in answer["history"]] == ["accepted", "call"]
    assert answer["call"]["lastError"] == BUSY.text
    assert answer["next"]["at"] == "2026-01-01T12:00:05.000Z"
    assert "again" in answer["next"]["what"]


def test_a_job_tells_of_the_requests_and_attempts_around_it(world: World) -> None:
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    world.passes(minutes=1)
    (again,) = world.retried().jobs
    _, answer = call("job", jobId=str(again.job_id))
    assert [each["attempt"] for each in answer["attempts"]] == [1, 2]
    assert answer["requests"] == [
        {
            "requestId": "r1",
            "retryAttempt": 1,
            "fileId": world.file.document_hash,
            "outcome": "pending",
        }
    ]


def test_the_outlook_follows_the_job(world: World) -> None:
    job = world.accepted()
    seen = [call("job", jobId=str(job.job_id))[1]["next"]["what"]]
    world.calls(job)
    seen.append(call("job", jobId=str(job.job_id))[1]["next"]["what"])
    world.reported(job, "JobStarted")
    answer = call("job", jobId=str(job.job_id))[1]
    seen.append(answer["next"]["what"])
    assert answer["next"]["at"] == (world.now + LIMITS.run).isoformat(
        timespec="milliseconds"
    ).replace("+00:00", "Z")
    world.reported(job, "JobSucceeded")
    seen.append(call("job", jobId=str(job.job_id))[1]["next"]["what"])
    assert seen == [
        "the extractor is called",
        "the extractor reports the start, or the job fails",
        "the extractor reports the end, or the job fails",
        "nothing: the job is succeeded",
    ]


def test_the_outlook_says_why_a_job_waits_for_its_call(world: World) -> None:
    job = world.accepted()
    world.extractor_views.pause(101, "maintenance", "ada@example.com")
    world.calls(job)
    paused = call("job", jobId=str(job.job_id))[1]["next"]["what"]
    world.extractor_views.resume(101)
    world.answers = [BUSY] * FAILURES_TO_OPEN
    for _ in range(FAILURES_TO_OPEN):
        world.passes(minutes=5)
        world.calls(job)
    broken = call("job", jobId=str(job.job_id))[1]["next"]["what"]
    world.passes(minutes=10)
    again = call("job", jobId=str(job.job_id))[1]["next"]["what"]
    assert paused == "the extractor is paused; whether it may be called is looked at again"
    assert broken == "the extractor fails steadily and is left alone; then one job tries it"
    assert again == f"the extractor is called again, for the time {FAILURES_TO_OPEN + 1}"


def test_a_timeline_tells_everything_of_a_file_in_order(world: World) -> None:
    job = world.accepted()
    world.calls(job)
    world.reported(job, "JobStarted")
    status, answer = call("timeline", fileId=str(job.file_id))
    assert status == 200
    assert [event["kind"] for event in answer["events"]] == ["accepted", "call", "status"]


def test_a_known_file_without_a_job_has_an_empty_timeline(world: World) -> None:
    assert call("timeline", fileId=str(world.file.file_id))[1]["events"] == []


@pytest.mark.parametrize(("name", "key"), [("job", "jobId"), ("timeline", "fileId")])
def test_what_is_not_there_is_404(world: World, name: str, key: str) -> None:
    assert call(name, **{key: str(uuid4())})[0] == 404


@pytest.mark.parametrize(("name", "key"), [("job", "jobId"), ("timeline", "fileId")])
def test_an_id_that_is_none_is_400(world: World, name: str, key: str) -> None:
    status, answer = call(name, **{key: "not-an-id"})
    assert status == 400
    assert key in answer["message"]


def test_a_job_is_cancelled_announced_and_written_down(world: World) -> None:
    job = world.accepted()
    status, answer = call("cancel", {"reason": "wrong file"}, jobId=str(job.job_id))
    assert (status, answer["status"]) == (202, "Cancelled")
    assert world.row(job).status is JobStatus.CANCELLED
    assert world.announced() == ["JobQueued", "JobCancelled"]
    assert json.loads(world.sent[-1].body)["data"]["Reason"] == "wrong file"
    event = world.sql.run(lambda tx: tx.events.of_file(job.file_id))[-1]
    assert (event.source, event.actor) == ("operator", "operator@example.com")


def test_a_cancelled_job_ignores_late_reports_and_is_not_retried(world: World) -> None:
    job = world.accepted()
    call("cancel", {"reason": "wrong file"}, jobId=str(job.job_id))
    world.reported(job, "JobFailed", ErrorMessage="late")
    world.send_outbox(job.job_id)
    assert world.row(job).status is JobStatus.CANCELLED
    assert world.last("ExtractionRetryEvent") is None


def test_an_ended_job_is_409_and_names_its_end(world: World) -> None:
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    status, answer = call("cancel", {"reason": "too late"}, jobId=str(job.job_id))
    assert status == 409
    assert "Succeeded" in answer["message"]


def test_cancelling_an_unknown_job_is_404(world: World) -> None:
    assert call("cancel", {"reason": "x"}, jobId=str(uuid4()))[0] == 404


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "x" * 501}, {"reason": 5}])
def test_cancelling_needs_a_reason(world: World, body: Any) -> None:
    job = world.accepted()
    status, answer = call("cancel", body, jobId=str(job.job_id))
    assert status == 400
    assert "reason" in answer["message"]
    assert world.row(job).active


def test_a_cancellation_stands_while_the_broker_is_away(world: World) -> None:
    job = world.accepted()
    world.down.add("service bus")
    assert call("cancel", {"reason": "wrong file"}, jobId=str(job.job_id))[0] == 202
    world.down.clear()
    world.send_outbox(job.job_id)
    assert world.announced()[-1] == "JobCancelled"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nobody_without_the_right_gets_in(world: World, name: str) -> None:
    world.refused = ForbiddenError("The token lacks the role")
    body = {"reason": "x"} if name == "cancel" else None
    assert call(name, body, jobId=str(uuid4()), fileId=str(uuid4()))[0] == 403
