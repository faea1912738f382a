"""Operators count dead letters and are told why they lie there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from shared import wiring
from shared.auth import ForbiddenError
from shared.contracts.incoming import Source
from shared.functions import dead_letters, holding
from shared.services.dead_letters import DeadLetters
from shared.services.explain_dead_letters import ExplainDeadLetters
from shared.services.handle_dead_letters import HandleDeadLetters, Subscription
from tests.database import empty_database
from tests.unit.functions.dead_letters import (
    FILES,
    RESULTS,
    RETRIES,
    SHORT,
    STATUSES,
    answered,
    call,
    counts,
    ended,
    explained,
    left,
    looked_at,
    put,
    put_file,
    put_sent,
    put_status,
    request,
    resubmit_function,
)
from tests.unit.functions.fakes import DurableClient
from tests.unit.services.world import RETENTION, World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    monkeypatch.setattr(holding, "PATIENCE", SHORT)
    return world


@pytest.fixture
def client() -> DurableClient:
    return DurableClient()


# Counting and looking


def test_every_subscription_is_counted(world: World) -> None:
    put_file(world)
    put_file(world)
    assert counts() == {FILES: 2, STATUSES: 0, RETRIES: 0, RESULTS: 0}


def test_subscriptions_of_one_name_are_told_apart_by_their_topics(world: World) -> None:
    explain = ExplainDeadLetters(world, RETENTION, world.clock)
    places = [
        Subscription(source, topic, name, world.dead[source])
        for source, topic, name in (
            (Source.ACCEPTED_FILE, "accepted-file", "extractor"),
            (Source.JOB_STATUS, "job-status", "extractor"),
            (Source.EXTRACTION_RETRY, "extraction-retry", "retries"),
        )
    ]
    handle_again = HandleDeadLetters(explain, world, world.clock)
    world.dead_letters = DeadLetters(places, explain, handle_again, world.clock)
    put_file(world)
    assert counts() == {"extractor@accepted-file": 1, "extractor@job-status": 0, "retries": 0}
    assert len(looked_at("extractor@accepted-file")["deadLetters"]) == 1


def test_many_are_not_counted_to_the_end(world: World) -> None:
    for _ in range(1001):
        put_file(world)
    [first, *_] = call(dead_letters.list_dead_letters)[1]["subscriptions"]
    assert (first["count"], first["more"]) == (1000, True)
    assert first["oldest"] == "2026-01-01T12:00:00.000Z"


def test_a_dead_letter_is_shown_without_its_body_and_stays(world: World) -> None:
    number = put_file(world, secret="body-only")
    answer = looked_at(FILES)
    assert "body-only" not in json.dumps(answer)
    [letter] = answer["deadLetters"]
    assert letter.pop("explanation")["canBeHandled"]
    assert letter == {
        "sequenceNumber": number,
        "messageId": f"m{number}",
        "subject": "Subject",
        "correlationId": "corr",
        "enqueuedAt": "2026-01-01T12:00:00.000Z",
        "deliveryCount": 10,
        "reason": "MaxDeliveryCountExceeded",
        "description": "tried",
    }
    assert left(world) == [number]


def test_pages_go_on_where_the_last_one_ended(world: World) -> None:
    numbers = [put_file(world) for _ in range(5)]
    seen: list[int] = []
    page: Any = {"nextAfter": 0}
    while "nextAfter" in page:
        page = looked_at(FILES, limit="2", after=str(page["nextAfter"]))
        seen += [letter["sequenceNumber"] for letter in page["deadLetters"]]
    assert seen == numbers


# The explanation


def test_what_breaks_its_contract_is_told_by_field_and_rule(world: World) -> None:
    put_file(world, FileID="no guid")
    code, text = explained(FILES)
    assert code == "contract_broken"
    assert "FileID" in text
    assert "UUID" in text
    assert "no guid" not in text


def broken_json(world: World) -> tuple[str, str]:
    put(world, Source.JOB_STATUS, "{")
    return STATUSES, "body_not_json"


def unknown_version(world: World) -> tuple[str, str]:
    put(world, Source.EXTRACTION_RETRY, {}, SchemaVersion="2.0")
    return RETRIES, "version_unknown"


def unknown_type(world: World) -> tuple[str, str]:
    put_status(world, uuid4(), "JobExploded")
    return STATUSES, "type_unknown"


def unknown_file(world: World) -> tuple[str, str]:
    put_file(world, FileID=str(uuid4()))
    return FILES, "file_unknown"


def unknown_job(world: World) -> tuple[str, str]:
    put_status(world, uuid4(), "JobStarted")
    return STATUSES, "job_unknown"


def unknown_attempt(world: World) -> tuple[str, str]:
    ended(world)
    message = world.last("ExtractionRetryResult")
    assert message
    put(world, Source.EXTRACTION_RESULT, message.body, retryAttempt=9)
    return RESULTS, "attempt_unknown"


def too_old(world: World) -> tuple[str, str]:
    put_file(world)
    world.passes(days=31)
    return FILES, "message_too_old"


def valid_file(world: World) -> tuple[str, str]:
    put_file(world)
    return FILES, "valid"


def valid_status(world: World) -> tuple[str, str]:
    put_status(world, world.accepted().job_id, "JobStarted")
    return STATUSES, "valid"


def late_status(world: World) -> tuple[str, str]:
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    put_status(world, job.job_id, "JobFailed")
    return STATUSES, "answered"


def valid_event(world: World) -> tuple[str, str]:
    put(world, Source.EXTRACTION_RETRY, {"requestId": "r9", "fileIds": ["hash-1"]})
    return RETRIES, "valid"


def answered_event(world: World) -> tuple[str, str]:
    world.retried(request="r9")
    return valid_event(world)[0], "answered"


def valid_result(world: World) -> tuple[str, str]:
    ended(world)
    put_sent(world, Source.EXTRACTION_RESULT, world.last("ExtractionRetryResult"))
    return RESULTS, "valid"


def without_a_database(world: World) -> tuple[str, str]:
    world.down.add("database")
    put_file(world)
    return FILES, "unchecked"


def forgotten_file(world: World) -> tuple[str, str]:
    world.removes_jobs = True
    world.wire()
    put_file(world, Timestamp="2025-11-01T12:00:00Z")
    return FILES, "message_too_old"


def forgotten_retry(world: World) -> tuple[str, str]:
    world.removes_jobs = True
    world.wire()
    asked = {"requestId": "r1", "fileIds": ["hash-1"], "timestamp": "2025-11-01T12:00:00Z"}
    put(world, Source.EXTRACTION_RETRY, asked)
    return RETRIES, "message_too_old"


@pytest.mark.parametrize(
    "case",
    [
        broken_json,
        unknown_version,
        unknown_type,
        unknown_file,
        unknown_job,
        unknown_attempt,
        too_old,
        forgotten_file,
        forgotten_retry,
        valid_file,
        valid_status,
        late_status,
        valid_event,
        answered_event,
        valid_result,
        without_a_database,
    ],
)
def test_it_is_told_why_a_message_may_lie_there(
    world: World, case: Callable[[World], tuple[str, str]]
) -> None:
    name, code = case(world)
    assert explained(name)[0] == code
    [letter] = looked_at(name)["deadLetters"]
    can = code in {"valid", "answered"}
    assert letter["explanation"]["canBeHandled"] == can


def test_a_file_that_has_its_job_is_told_with_its_status(world: World) -> None:
    job = world.accepted()
    world.reported(job, "JobSucceeded")
    put_file(world)
    code, text = explained(FILES)
    assert code == "answered"
    assert str(job.job_id) in text
    assert "Succeeded" in text


# The edge


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sequenceNumbers": []},
        {"sequenceNumbers": [0]},
        {"sequenceNumbers": ["7"]},
        {"sequenceNumbers": list(range(1, 102))},
        {"sequenceNumbers": [7], "all": True},
        {"all": False},
    ],
)
async def test_a_choice_that_makes_no_sense_is_refused(
    world: World, client: DurableClient, body: Any
) -> None:
    response = await resubmit_function(request(body, subscription=FILES), client)
    assert response.status_code == 400


def test_discarding_needs_a_reason(world: World) -> None:
    body = {"sequenceNumbers": [7]}
    status, answer = call(dead_letters.discard_dead_letters, body, subscription=FILES)
    assert status == 400
    assert "reason" in answer["message"]


async def test_an_unknown_subscription_is_404_naming_the_known_ones(
    world: World, client: DurableClient
) -> None:
    body = {"sequenceNumbers": [7], "reason": "x"}
    answers = [
        call(dead_letters.get_dead_letters, subscription="other"),
        call(dead_letters.discard_dead_letters, body, subscription="other"),
        answered(await resubmit_function(request(body, subscription="other"), client)),
    ]
    for status, answer in answers:
        assert status == 404
        assert FILES in answer["message"]


def test_a_broker_out_of_reach_is_503(world: World) -> None:
    world.down.add("service bus")
    assert call(dead_letters.list_dead_letters)[0] == 503


async def test_nobody_without_the_right_gets_in(world: World, client: DurableClient) -> None:
    number = put_file(world)
    world.refused = ForbiddenError("The token lacks the role Administrator")
    body = {"sequenceNumbers": [number], "reason": "x", "dryRun": False}
    statuses = [
        call(dead_letters.list_dead_letters)[0],
        call(dead_letters.get_dead_letters, subscription=FILES)[0],
        call(dead_letters.discard_dead_letters, body, subscription=FILES)[0],
        (await resubmit_function(request(body, subscription=FILES), client)).status_code,
    ]
    assert statuses == [403] * 4
    assert left(world) == [number]
