"""Operators restart what failed, over HTTP: the whole way, through every real part."""

import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
import requests

from local.demo.file_service import StoredFile
from local.demo.operator import RESTART, Operator, Request, is_over
from local.demo.registrations import register_extractor
from local.supervisor.environment import host_url
from shared.domain.jobs import JobStatus
from tests.integration.whole_stack import WholeStack

_numbers = itertools.count(5000)


@dataclass(frozen=True)
class Failed:
    """A file whose extraction failed for want of an extractor, which has come since."""

    stored: StoredFile
    entity_id: int


@pytest.fixture(scope="module")
def operator(stack: WholeStack) -> Operator:
    return Operator(stack.stack.settings, "ada@example.com")


def failed(stack: WholeStack, behaviour: str = "instant") -> Failed:
    client = f"late-client-{uuid4()}"
    stored = stack.submit(f"Invoice {uuid4()}".encode(), client=client)
    assert stack.wait_for_end(stored.job_id).status is JobStatus.FAILED
    url = f"{stack.extraction_url}?behaviour={behaviour}"
    register_extractor(stack.services.database, next(_numbers), client, url)
    return Failed(stored, stack.services.documents.add_entity(stored.document_hash))


def accepted(response: requests.Response) -> str:
    """The request id of a restart that was accepted whole."""
    assert response.status_code == 200, response.text
    assert response.json()["status"] == "accepted"
    return str(response.json()["requestId"])


def job_ids(request: Request) -> list[UUID]:
    return [UUID(file["jobId"]) for attempt in request["attempts"] for file in attempt["files"]]


def test_a_failed_extraction_is_restarted_and_seen_to_succeed(stack: WholeStack) -> None:
    file = failed(stack)
    command = [sys.executable, "-m", "local.identity.token", "--data", stack.stack.settings.data]
    rights = ["--scope", "EXTRACTED_ENTITIES_WRITE", "--role", "User", "--user", "ada@example.com"]
    token = subprocess.run([*command, *rights], capture_output=True, text=True, check=True).stdout
    headers = {"Authorization": f"Bearer {token.strip()}"}
    address = host_url(stack.stack.settings)

    response = requests.post(
        f"{address}{RESTART}",
        json={"extractedEntityIds": [file.entity_id], "reason": "the extractor is there"},
        headers=headers,
        timeout=10,
    )

    answer = response.json()
    assert response.status_code == 200
    assert answer == {
        "requestId": answer["requestId"],
        "extractedEntityIds": [file.entity_id],
        "fileHashes": [file.stored.document_hash],
        "status": "accepted",
        "message": "Successfully initiated restart for 1 extraction(s)",
    }
    request = Operator(stack.stack.settings).wait_for_request(answer["requestId"], is_over)
    assert (request["state"], request["initiatedBy"]) == ("succeeded", "ada@example.com")
    assert request["reason"] == "the extractor is there"
    first, second = stack.jobs_of(file.stored.file_id)
    assert (first.status, first.attempt) == (JobStatus.FAILED, 1)
    assert (second.status, second.attempt) == (JobStatus.SUCCEEDED, 2)
    assert second.request_id == answer["requestId"]
    assert job_ids(request) == [second.job_id]
    retry = stack.wait_for_event(file.stored.file_id, lambda event: event.kind.value == "retry")
    assert (retry.actor, retry.request_id) == ("ada@example.com", answer["requestId"])


def test_a_hundred_entities_are_restarted_in_one_call(
    stack: WholeStack, operator: Operator
) -> None:
    client = stack.client_with(f"{stack.extraction_url}?behaviour=instant")
    contents = [f"Invoice {uuid4()}".encode() for _ in range(100)]
    stored = [stack.services.files.store(content, "note.txt", client) for content in contents]
    ids = [stack.services.documents.add_entity(each.document_hash) for each in stored]

    request = operator.wait_for_request(accepted(operator.restart(ids)), is_over, 60)

    assert request["state"] == "succeeded"
    (attempt,) = request["attempts"]
    assert [file["fileId"] for file in attempt["files"]] == [each.document_hash for each in stored]
    assert len(set(job_ids(request))) == 100
    assert {len(stack.jobs_of(each.file_id)) for each in stored} == {1}


def test_what_can_be_restarted_is_and_the_rest_is_named(
    stack: WholeStack, operator: Operator
) -> None:
    file = failed(stack)
    processing = stack.services.documents.add_entity("hash-in-process", "processing")

    answer = operator.restart([987654321, file.entity_id, processing])

    assert answer.status_code == 200
    assert answer.json()["status"] == "partial"
    assert answer.json()["extractedEntityIds"] == [file.entity_id]
    assert [each["extractedEntityId"] for each in answer.json()["errors"]] == [
        987654321,
        processing,
    ]
    request = operator.wait_for_request(answer.json()["requestId"], is_over)
    assert request["state"] == "succeeded"
    assert operator.restart([processing]).status_code == 400


def test_two_restarts_at_the_same_moment_extract_once(
    stack: WholeStack, operator: Operator
) -> None:
    file = failed(stack, "busy=1,instant")

    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(operator.restart, [[file.entity_id]] * 2))

    requests_ = [operator.wait_for_request(accepted(answer), is_over) for answer in answers]
    assert [request["state"] for request in requests_] == ["succeeded"] * 2
    assert requests_[0]["requestId"] != requests_[1]["requestId"]
    _, job = stack.jobs_of(file.stored.file_id)
    assert job_ids(requests_[0]) == job_ids(requests_[1]) == [job.job_id]
    assert stack.calls_of(job.job_id)["called"] == 1


def test_a_repeat_with_its_idempotency_key_is_the_same_request(
    stack: WholeStack, operator: Operator
) -> None:
    file = failed(stack)
    key = {"Idempotency-Key": str(uuid4())}

    first = accepted(operator.restart([file.entity_id], **key))
    operator.wait_for_request(first, is_over)
    again = accepted(operator.restart([file.entity_id], **key))

    assert again == first
    stack.wait_until_drained("extraction-retry", "extractor-retry-subscription")
    assert len(stack.jobs_of(file.stored.file_id)) == 2


def test_a_request_that_nobody_made_is_404_and_tells_when_to_come_back(operator: Operator) -> None:
    answer = operator.get(f"/v1/requests/{uuid4()}")
    assert answer.status_code == 404
    assert int(answer.headers["Retry-After"]) > 0
