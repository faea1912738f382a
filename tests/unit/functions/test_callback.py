"""An extractor reports on its own job over HTTPS, and on no other."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import azure.functions as func
import jwt
import pytest

from shared import wiring
from shared.callbacks import AUDIENCE, Callbacks
from shared.domain.jobs import Job, JobStatus
from shared.functions import job_status_callback
from tests.database import add_file, empty_database
from tests.unit.services.world import KEYS, World

report = job_status_callback.report_job_status._function.get_user_function()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


@pytest.fixture
def job(world: World) -> Job:
    job = world.accepted()
    world.calls(job)
    world.sent.clear()
    return job


def post(
    world: World, job: Job, body: Any, token: str | None = None, job_id: Any = None
) -> tuple[int, Any]:
    """The status and JSON that the call-back answers."""
    assert world.callback
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = func.HttpRequest(
        "POST",
        "/",
        headers={"authorization": f"Bearer {world.callback.token if token is None else token}"},
        route_params={"jobId": str(job_id or job.job_id)},
        body=raw,
    )
    response = report(request)
    return response.status_code, json.loads(response.get_body())


def test_the_call_carries_where_to_report_and_a_token_for_it(world: World, job: Job) -> None:
    assert world.callback
    assert world.callback.url == f"https://app.example/v1/jobs/{job.job_id}/status"


def test_a_report_is_recorded_and_announced_on_the_extractors_behalf(
    world: World, job: Job
) -> None:
    assert post(world, job, {"status": "Started"})[0] == 202
    body = {"status": "Succeeded", "resultSummary": {"pages": 3}, "model": "v7"}
    assert post(world, job, body) == (202, {"jobId": str(job.job_id), "status": "Succeeded"})
    row = world.row(job)
    assert row.status is JobStatus.SUCCEEDED
    assert json.loads(row.extractor_response or "")["model"] == "v7"
    assert world.announced() == ["JobStarted", "JobSucceeded"]
    data = json.loads(world.sent[-1].body)["data"]
    assert data["ResultSummary"] == {"pages": 3}


def test_a_failure_is_announced_with_its_message_and_retried(world: World, job: Job) -> None:
    post(world, job, {"status": "Failed", "errorMessage": "no text"})
    assert world.row(job).status_message == "no text"
    assert world.announced() == ["JobFailed", "ExtractionRetryEvent"]
    assert world.sent[0].properties["willRetry"] is True


def test_a_repeat_is_taken_and_changes_nothing(world: World, job: Job) -> None:
    post(world, job, {"status": "Succeeded"})
    before, events = world.row(job), world.events()
    world.passes(minutes=1)
    assert post(world, job, {"status": "Succeeded"})[0] == 202
    assert post(world, job, {"status": "Started"})[0] == 202
    assert world.row(job) == before
    assert world.announced() == ["JobSucceeded"]
    assert len(world.events()) == len(events) + 1, "the late start is written down"


def test_another_end_than_the_recorded_one_is_409_and_named(world: World, job: Job) -> None:
    post(world, job, {"status": "Succeeded"})
    status, answer = post(world, job, {"status": "Failed", "errorMessage": "no"})
    assert status == 409
    assert "Succeeded" in answer["message"]


def test_a_token_of_another_job_is_403(world: World, job: Job) -> None:
    assert world.callback
    others = world.callback.token
    world.file = add_file(world.sql, document_hash="h2")
    other = world.accepted()
    assert post(world, other, {"status": "Started"}, token=others)[0] == 403
    assert world.row(other).status is JobStatus.QUEUED


def test_a_token_of_a_job_that_is_not_there_is_404(world: World, job: Job) -> None:
    unknown = uuid4()
    token = world.callbacks.for_job(unknown).token
    assert post(world, job, {"status": "Started"}, token=token, job_id=unknown)[0] == 404


def test_a_token_expires_with_its_job(world: World, job: Job) -> None:
    world.passes(minutes=90)
    assert post(world, job, {"status": "Started"})[0] == 401


def test_a_token_of_the_key_before_is_still_good(world: World, job: Job) -> None:
    old = Callbacks("https://app.example", [KEYS[1]], timedelta(minutes=90), world.clock)
    assert post(world, job, {"status": "Started"}, token=old.for_job(job.job_id).token)[0] == 202


def claims(world: World, job: Job, **changed: Any) -> dict[str, Any]:
    expires = int((world.now + timedelta(minutes=5)).timestamp())
    return {"sub": str(job.job_id), "aud": AUDIENCE, "exp": expires} | changed


@pytest.mark.parametrize(
    "forge",
    [
        lambda world, job: "",
        lambda world, job: "a.b.c",
        lambda world, job: jwt.encode(claims(world, job), "x" * 32, "HS256"),
        lambda world, job: jwt.encode(claims(world, job), KEYS[0], "HS384"),
        lambda world, job: jwt.encode(claims(world, job), None, "none"),
        lambda world, job: jwt.encode(claims(world, job, aud="other"), KEYS[0], "HS256"),
        lambda world, job: jwt.encode({"sub": str(job.job_id), "aud": AUDIENCE}, KEYS[0], "HS256"),
        lambda world, job: jwt.encode(claims(world, job, sub=None), KEYS[0], "HS256"),
    ],
    ids=["none", "garbage", "other-key", "other-alg", "alg-none", "other-aud", "no-exp", "no-sub"],
)
@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
def test_a_forged_token_is_401(world: World, job: Job, forge: Any) -> None:
    status, answer = post(world, job, {"status": "Started"}, token=forge(world, job))
    assert status == 401
    assert set(answer) == {"error", "message"}
    assert world.row(job).status is JobStatus.QUEUED


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"status": "Queued"},
        {"status": "Cancelled"},
        {"status": "started"},
        {"status": 5},
        {"status": "Succeeded", "resultSummary": [1]},
        {"status": "Succeeded", "resultSummary": "x" * 20_000},
        {"status": "Failed", "errorMessage": {"code": 1}},
        b"",
        b"null",
        b"{",
    ],
)
def test_a_report_that_says_nothing_sensible_is_400(world: World, job: Job, body: Any) -> None:
    assert post(world, job, body)[0] == 400
    assert world.row(job).status is JobStatus.QUEUED


def test_with_the_database_away_the_report_goes_to_the_topic(world: World, job: Job) -> None:
    world.down.add("database")
    assert post(world, job, {"status": "Succeeded", "resultSummary": "3 pages"})[0] == 202
    assert [message.message_id for message in world.sent] == [f"{job.job_id}:Succeeded"]


def test_with_both_away_the_extractor_is_asked_to_come_again(world: World, job: Job) -> None:
    world.down |= {"database", "service bus"}
    assert post(world, job, {"status": "Succeeded"})[0] == 503


def test_with_the_broker_away_the_report_stands_and_is_announced_later(
    world: World, job: Job
) -> None:
    world.down.add("service bus")
    assert post(world, job, {"status": "Succeeded"})[0] == 202
    assert world.row(job).status is JobStatus.SUCCEEDED
    world.down.clear()
    world.send_outbox(job.job_id)
    assert world.announced() == ["JobSucceeded"]


@pytest.mark.parametrize("keys", [[], ["short"], ["k" * 32, "short"]])
def test_keys_that_could_be_guessed_are_refused(world: World, keys: list[str]) -> None:
    with pytest.raises(ValueError, match="32 characters"):
        Callbacks("https://app.example", keys, timedelta(minutes=1), world.clock)
