"""Failed extractions are tried again, by themselves or when asked, until they succeed or not."""

import json
from uuid import UUID, uuid4

import pytest
from azure.servicebus import ServiceBusMessage

from local.demo.file_service import StoredFile
from local.demo.operator import Operator, Request, is_over
from shared.domain.jobs import JobStatus
from shared.domain.retries import automatic_request_id
from tests.integration.whole_stack import WholeStack, wait_for

BATCH = 20


@pytest.fixture(scope="module")
def operator(stack: WholeStack) -> Operator:
    return Operator(stack.stack.settings, "ada@example.com")


def stored(stack: WholeStack, behaviour: str, count: int = 1) -> list[StoredFile]:
    """Files that nobody has announced, of a client whose extractor behaves like that."""
    client = stack.client_with(f"{stack.extraction_url}?behaviour={behaviour}")
    contents = [f"Invoice {uuid4()}".encode() for _ in range(count)]
    return [stack.services.files.store(content, "note.txt", client) for content in contents]


def retry_batch(operator: Operator, ids: list[str]) -> str:
    answer = operator.post("/v1/retry/batch", {"fileIds": ids, "reason": "after the outage"})
    assert answer.status_code == 202
    assert answer.json() == {
        "requestId": answer.json()["requestId"],
        "fileIds": ids,
        "count": len(ids),
        "status": "queued",
    }
    return str(answer.json()["requestId"])


def outcomes(request: Request) -> list[list[str]]:
    return [[file["outcome"] for file in attempt["files"]] for attempt in request["attempts"]]


def test_a_failed_job_is_tried_again_by_itself_and_succeeds(
    stack: WholeStack, operator: Operator
) -> None:
    client = stack.client_with(f"{stack.extraction_url}?behaviour=fail-reports=1")
    file = stack.submit(f"Invoice {uuid4()}".encode(), client=client)
    first = stack.wait_for_end(file.job_id)

    request = operator.wait_for_request(automatic_request_id(first.job_id), is_over)

    assert (request["state"], request["initiatedBy"]) == ("succeeded", "system")
    assert request["reason"] == "extraction_failed"
    jobs = stack.jobs_of(file.file_id)
    assert [job.status for job in jobs] == [JobStatus.FAILED, JobStatus.SUCCEEDED]
    assert [job.attempt for job in jobs] == [1, 2]
    listed = operator.get("/v1/requests", initiatedBy="system", state="succeeded").json()
    assert request["requestId"] in {each["requestId"] for each in listed["requests"]}


def test_only_what_failed_is_tried_again_within_a_request(
    stack: WholeStack, operator: Operator
) -> None:
    (good,), (bad,) = stored(stack, "instant"), stored(stack, "fail-reports=1,instant")
    request_id = retry_batch(operator, [good.document_hash, bad.document_hash, "nobody's-hash"])

    waiting = operator.wait_for_request(request_id, lambda found: found["state"] == "waiting")
    assert waiting["attempts"][0]["files"][1]["error"]
    request = operator.wait_for_request(request_id, is_over)

    assert request["state"] == "partial"
    assert outcomes(request) == [["succeeded", "failed", "failed"], ["succeeded"]]
    assert request["attempts"][1]["files"][0]["fileId"] == bad.document_hash
    assert len(stack.jobs_of(good.file_id)) == 1
    assert [job.attempt for job in stack.jobs_of(bad.file_id)] == [1, 2]


def test_after_the_last_attempt_it_has_failed_and_the_result_says_so(
    stack: WholeStack, operator: Operator
) -> None:
    (file,) = stored(stack, "fail-report")
    request_id = retry_batch(operator, [file.document_hash])

    request = operator.wait_for_request(request_id, is_over)

    assert request["state"] == "failed"
    assert outcomes(request) == [["failed"]] * 3
    assert len(stack.jobs_of(file.file_id)) == 3
    results = wait_for(lambda: len(found := stack.results_of(request_id)) == 3 and found)
    assert [each.message_id for each in results] == [f"{request_id}:{n}" for n in (1, 2, 3)]
    last = json.loads(str(results[-1]))
    assert last["failedIds"] == [file.document_hash]
    assert last["successfulIds"] == []
    assert set(last["errors"]) == {file.document_hash}


@pytest.mark.parametrize("named_by", ["hash", "FileID"])
def test_a_file_is_retried_by_its_hash_or_its_id(
    stack: WholeStack, operator: Operator, named_by: str
) -> None:
    (file,) = stored(stack, "instant")
    file_id = file.document_hash if named_by == "hash" else str(file.file_id).upper()

    answer = operator.post(f"/v1/retry/{file_id}", {"reason": "looks wrong"})

    assert answer.status_code == 202
    assert answer.json()["fileId"] == file_id
    request = operator.wait_for_request(answer.json()["requestId"], is_over)
    assert request["state"] == "succeeded"
    (job,) = stack.jobs_of(file.file_id)
    assert UUID(request["attempts"][0]["files"][0]["jobId"]) == job.job_id


def test_a_batch_names_files_either_way(stack: WholeStack, operator: Operator) -> None:
    files = stored(stack, "instant", 3)
    ids = [files[0].document_hash, str(files[1].file_id), files[2].document_hash]

    request = operator.wait_for_request(retry_batch(operator, ids), is_over)

    assert request["state"] == "succeeded"
    assert [len(stack.jobs_of(file.file_id)) for file in files] == [1, 1, 1]


def test_an_event_of_another_service_that_comes_three_times_is_one_request(
    stack: WholeStack, operator: Operator
) -> None:
    (file,) = stored(stack, "instant")
    request_id = f"intake-{uuid4()}"
    body = json.dumps({"RequestId": request_id, "FileIds": [file.document_hash]}).encode()

    for _ in range(2):
        stack.publish("extraction-retry", ServiceBusMessage(b"\xef\xbb\xbf" + body))
    operator.wait_for_request(request_id, is_over)
    stack.publish("extraction-retry", ServiceBusMessage(body))
    stack.wait_until_drained("extraction-retry", "extractor-retry-subscription")

    assert len(stack.jobs_of(file.file_id)) == 1
    assert [each.message_id for each in stack.results_of(request_id)] == [f"{request_id}:1"]


def test_an_event_without_files_ends_in_the_dead_letter_queue(stack: WholeStack) -> None:
    message_id = str(uuid4())
    body = json.dumps({"requestId": "r", "fileIds": []})
    stack.publish("extraction-retry", ServiceBusMessage(body, message_id=message_id))
    dead = stack.wait_for_dead_letter(
        "extraction-retry", "extractor-retry-subscription", message_id
    )
    assert str(dead) == body


def is_begun(stack: WholeStack, file: StoredFile) -> bool:
    return any(job.status is not JobStatus.QUEUED for job in stack.jobs_of(file.file_id))


@pytest.mark.parametrize("begun", [0, BATCH])
def test_a_host_killed_amid_a_batch_extracts_each_file_once_and_closes_the_request_once(
    stack: WholeStack, operator: Operator, begun: int
) -> None:
    files = stored(stack, "busy=2,instant", BATCH)
    request_id = retry_batch(operator, [file.document_hash for file in files])
    wait_for(lambda: begun <= sum(is_begun(stack, file) for file in files))

    stack.stack.parts["host"].kill()
    stack.stack.parts["host"].start()

    request = operator.wait_for_request(request_id, is_over, 90)
    assert request["state"] == "succeeded"
    jobs = [stack.jobs_of(file.file_id) for file in files]
    assert [len(each) for each in jobs] == [1] * BATCH
    assert [stack.calls_of(job.job_id)["taken"] for (job,) in jobs] == [1] * BATCH
    results = wait_for(lambda: stack.results_of(request_id))
    assert {each.message_id for each in results} == {f"{request_id}:1"}
    assert len(json.loads(str(results[0]))["successfulIds"]) == BATCH
