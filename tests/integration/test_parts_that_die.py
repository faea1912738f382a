"""Any part can be killed and started again: nothing is lost, nothing is done twice."""

import gc
from uuid import uuid4

import pytest

from local.demo.operator import Operator, is_over
from shared.domain.jobs import Job, JobStatus
from tests.integration.whole_stack import WholeStack

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

FILES = 12


def all_end(stack: WholeStack, job_ids: list[object]) -> list[Job]:
    return [stack.wait_for_end(job_id, 90) for job_id in job_ids]  # type: ignore[arg-type]


def test_a_restart_while_the_broker_is_down_is_500_in_time_and_its_repeat_succeeds(
    stack: WholeStack,
) -> None:
    client = stack.client_with(f"{stack.extraction_url}?behaviour=instant")
    stored = stack.services.files.store(b"Invoice 18", "note.txt", client)
    entity_id = stack.services.documents.add_entity(stored.document_hash)
    operator = Operator(stack.stack.settings)
    key = {"Idempotency-Key": str(uuid4())}

    stack.stack.parts["servicebus"].kill()
    failed = operator.restart([entity_id], **key)
    stack.stack.parts["servicebus"].start()
    succeeded = operator.restart([entity_id], **key)

    assert (failed.status_code, succeeded.status_code) == (500, 200)
    assert failed.json()["message"].startswith("Failed to restart extraction")
    assert failed.elapsed.total_seconds() < 12
    request_id = failed.json()["requestId"]
    assert succeeded.json()["requestId"] == request_id
    assert operator.wait_for_request(request_id, is_over)["state"] == "succeeded"
    assert len(stack.jobs_of(stored.file_id)) == 1
    stack.wait_for_end(stack.submit(b"Invoice 19").job_id, 90)
    gc.collect()  # what broke while the broker was away must not be found by another test


@pytest.mark.parametrize("part", ["host", "servicebus", "extractor", "identity"])
def test_a_part_killed_amid_jobs_loses_none(stack: WholeStack, part: str) -> None:
    client = stack.client_with(f"{stack.extraction_url}?behaviour=busy=1")
    stored = [stack.submit(f"Invoice {n}".encode(), client=client) for n in range(FILES)]
    stack.wait_for_job(stored[FILES // 2].job_id, lambda job: True)

    stack.stack.parts[part].kill()
    stack.stack.parts[part].start()

    jobs = all_end(stack, [each.job_id for each in stored])
    assert {job.status for job in jobs} == {JobStatus.SUCCEEDED}
    assert [len(stack.jobs_of(each.file_id)) for each in stored] == [1] * FILES
    for each in stored:
        heard = stack.services.statuses.wait_for(
            each.job_id, lambda found: {"Succeeded"} <= {str(f.status) for f in found}, 30
        )
        assert {f.message_id for f in heard} <= {
            f"{each.job_id}:{status}" for status in ("Queued", "Started", "Succeeded")
        }


@pytest.mark.parametrize("part", ["extractor", "blob", "identity"])
def test_a_part_that_is_away_when_a_file_comes_is_waited_for(stack: WholeStack, part: str) -> None:
    stored = stack.services.files.store(b"Invoice 16", "note.txt")
    stop = stack.stack.parts[part].stop if part == "blob" else stack.stack.parts[part].kill
    stop()  # killed, Azurite forgets what was stored within the last seconds
    stack.services.files.announce(stored.file_id)
    stack.stack.parts[part].start()
    assert stack.wait_for_end(stored.job_id, 90).status is JobStatus.SUCCEEDED
    assert len(stack.jobs_of(stored.file_id)) == 1


def test_a_host_killed_while_the_extractor_works_finishes_the_job(stack: WholeStack) -> None:
    client = stack.client_with(f"{stack.extraction_url}?behaviour=busy=3")
    stored = stack.submit(b"Invoice 17", client=client)
    stack.wait_for_job(stored.job_id, lambda job: job.status is JobStatus.STARTED)
    stack.stack.parts["host"].kill()
    stack.stack.parts["host"].start()
    assert stack.wait_for_end(stored.job_id).status is JobStatus.SUCCEEDED
    assert stack.wait_for_orchestration(stored.job_id)["output"] == "Succeeded"
    assert stack.calls_of(stored.job_id)["called"] == 1
