"""A file is accepted, extracted and announced: the whole way, through every real part."""

import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from azure.servicebus import ServiceBusMessage

from local.demo.file_service import StoredFile
from shared.domain.jobs import ENDS, Job, JobStatus
from tests.integration.whole_stack import WholeStack

INVOICE = Path("local/demo/documents/invoice.pdf")
SAMPLES = Path(__file__).parents[3] / "shared" / "samples"

SAMPLE_ENDS = {
    "arabic.pdf": None,
    "federal-register-2020-17221.pdf": None,
    "minimal-document.pdf": None,
    "nics-background-checks-2015-11.pdf": None,
    "scotus-transcript-p1.pdf": None,
    "senate-expenditures.pdf": None,
    "images-only.pdf": None,
    "malformed-from-issue-932.pdf": None,
    "empty.pdf": "empty",
    "password-protected.pdf": "password",
}
"""What each ends with: text extracted (some pages of the pictures hold a word), or this word."""


def announced(stack: WholeStack, job_id: object) -> list[str]:
    """The job's statuses as another subscriber hears them, up to the end."""
    heard = stack.services.statuses.wait_for(
        job_id,  # type: ignore[arg-type]
        lambda found: any(each.status in ENDS for each in found),
        30,
    )
    return [each.status.value for each in heard]


def test_a_real_pdf_is_accepted_extracted_and_announced(stack: WholeStack) -> None:
    stored = stack.submit(INVOICE.read_bytes(), "invoice.pdf")

    job = stack.wait_for_end(stored.job_id)

    assert job.status is JobStatus.SUCCEEDED
    assert job.completed_at is not None
    assert job.created_at <= job.completed_at
    assert announced(stack, job.job_id) == ["Queued", "Started", "Succeeded"]
    kinds = [event.kind.value for event in stack.events_of(stored.file_id)]
    assert kinds[0] == "accepted"
    assert sorted(kinds[1:]) == ["call", "status", "status"]


def test_every_status_is_announced_under_its_one_id_with_its_trace(stack: WholeStack) -> None:
    stored = stack.submit(b"Invoice 2026-01 of 2026-01-31")
    stack.wait_for_end(stored.job_id)
    announced(stack, stored.job_id)
    heard = stack.services.statuses.of_job(stored.job_id)
    assert [each.message_id for each in heard] == [
        f"{stored.job_id}:{status}" for status in ("Queued", "Started", "Succeeded")
    ]
    assert all(each.subject == f"Job{each.status}" for each in heard)
    assert all(str(each.properties["schemaVersion"]) == "1.0" for each in heard)
    traces = {str(each.properties.get("traceparent", ""))[:35] for each in heard}
    assert len(traces) == 1


def test_the_summary_holds_counts_and_never_values(stack: WholeStack) -> None:
    stored = stack.submit(b"Write to ada@example.com about EUR 120.50 due 2026-02-28")
    job = stack.wait_for_end(stored.job_id)
    assert job.extractor_response is not None
    assert "ResultSummary" in job.extractor_response
    assert "ada@example.com" not in job.extractor_response


def test_the_orchestration_ends_with_the_job_and_costs_one_activity(stack: WholeStack) -> None:
    stored = stack.submit(b"Invoice 7")
    stack.wait_for_end(stored.job_id)
    status = stack.wait_for_orchestration(stored.job_id)
    assert (status["output"], status["customStatus"]) == ("Succeeded", "Succeeded")
    calls = [event for event in status["historyEvents"] if event["EventType"] == "TaskCompleted"]
    assert [call["FunctionName"] for call in calls] == ["call_extractor"]


def test_the_same_file_accepted_again_and_again_makes_one_job(stack: WholeStack) -> None:
    stored = stack.services.files.store(b"Invoice 8", "note.txt")
    for _ in range(5):
        stack.services.files.announce(stored.file_id)
    stack.wait_for_end(stored.job_id)
    stack.services.files.announce(stored.file_id)
    stack.wait_until_drained("accepted-file", "extractor-subscription")
    assert len(stack.jobs_of(stored.file_id)) == 1
    assert announced(stack, stored.job_id) == ["Queued", "Started", "Succeeded"]
    assert stack.calls_of(stored.job_id)["called"] == 1


def test_many_files_at_once_each_end_once(stack: WholeStack) -> None:
    client = stack.client_with(f"{stack.extraction_url}?behaviour=instant")
    stored = [stack.submit(f"Invoice {n}".encode(), client=client) for n in range(25)]
    ends = {stack.wait_for_end(each.job_id, 60).status for each in stored}
    assert ends == {JobStatus.SUCCEEDED}
    assert [len(stack.jobs_of(each.file_id)) for each in stored] == [1] * 25


@pytest.mark.parametrize(("name", "word"), SAMPLE_ENDS.items())
def test_real_documents_end_properly(stack: WholeStack, name: str, word: str | None) -> None:
    path = SAMPLES / name
    if not path.exists():
        pytest.skip("the sample documents are not part of the product, and not on this machine")
    job = stack.wait_for_end(stack.submit(path.read_bytes(), name).job_id, 60)
    if word is None:
        assert job.status is JobStatus.SUCCEEDED, job.status_message
    else:
        assert job.status is JobStatus.FAILED
        assert word.lower() in (job.status_message or "").lower()


def accepted_body(file_id: UUID) -> bytes:
    return json.dumps({"FileID": str(file_id), "Timestamp": "2026-01-01T00:00:00Z"}).encode()


@pytest.mark.parametrize(
    ("content", "name", "word"),
    [(b"%PDF-1.7\nnothing of a PDF follows", "broken.pdf", "PDF"), (b"", "empty.txt", "empty")],
)
def test_a_document_that_cannot_be_read_fails_in_words(
    stack: WholeStack, content: bytes, name: str, word: str
) -> None:
    job = stack.wait_for_end(stack.submit(content, name).job_id)
    assert job.status is JobStatus.FAILED
    assert word in (job.status_message or "")


def extract_with(stack: WholeStack, behaviour: str) -> tuple[StoredFile, Job]:
    """The end of a job whose extractor behaves like that."""
    client = stack.client_with(f"{stack.extraction_url}?behaviour={behaviour}")
    stored = stack.submit(b"Invoice 9 of 2026-03-01", client=client)
    return stored, stack.wait_for_end(stored.job_id, 60)


@pytest.mark.parametrize(
    "behaviour",
    [
        "fail=1",
        "retry-after=1",
        "html",
        "big",
        "slow=2",
        "report-twice",
        "report-late=0.5",
        "lose-answer",
        "instant",
        "status=204",
    ],
)
def test_an_extractor_that_stumbles_still_succeeds(stack: WholeStack, behaviour: str) -> None:
    stored, job = extract_with(stack, behaviour)
    assert job.status is JobStatus.SUCCEEDED, job.status_message
    assert len(stack.jobs_of(stored.file_id)) == 1


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("refuse", "400"),
        ("status=404", "404"),
        ("redirect", "redirect"),
        ("fail-report", ""),
    ],
)
def test_an_extractor_that_refuses_fails_the_job_in_words(
    stack: WholeStack, behaviour: str, words: str
) -> None:
    _, job = extract_with(stack, behaviour)
    assert job.status is JobStatus.FAILED
    assert job.status_message
    assert words in job.status_message
    assert announced(stack, job.job_id)[-1] == "Failed"


def test_a_report_under_another_jobs_id_does_not_touch_that_job(stack: WholeStack) -> None:
    victim, ended = extract_with(stack, "fail-report")
    client = stack.client_with(f"{stack.extraction_url}?behaviour=report-as={victim.job_id}")
    liar = stack.submit(b"Invoice 10", client=client)
    stack.wait_for_event(victim.file_id, lambda event: event.detail.get("refused") == "Succeeded")
    assert stack.job(victim.job_id) == ended
    assert stack.wait_for_job(liar.job_id, lambda job: True).active


def test_a_file_without_an_extractor_fails_and_says_so(stack: WholeStack) -> None:
    stored = stack.submit(b"Invoice 11", client="client-without-extractor")
    job = stack.wait_for_end(stored.job_id)
    assert (job.status, job.extractor_id) == (JobStatus.FAILED, None)
    assert "client-without-extractor" in (job.status_message or "")
    assert announced(stack, stored.job_id) == ["Queued", "Failed"]


def test_a_file_whose_content_is_gone_fails_and_says_so(stack: WholeStack) -> None:
    stored = StoredFile(uuid4(), "gone.pdf", "hash-of-gone", "nowhere/gone.pdf")
    stack.services.files.add_row(stored)
    stack.services.files.announce(stored.file_id)
    job = stack.wait_for_end(stored.job_id)
    assert job.status is JobStatus.FAILED
    assert "404" in (job.status_message or "")


def test_a_file_row_that_comes_late_is_waited_for(stack: WholeStack) -> None:
    stored = stack.services.files.store(b"Invoice 12", "note.txt", client="nobody-yet")
    late = StoredFile(uuid4(), "late.txt", "hash-of-late", stored.blob_name)
    stack.services.files.announce(late.file_id)
    stack.wait_for_log("host", "Message held")
    stack.services.files.add_row(late)
    assert stack.wait_for_end(late.job_id).status is JobStatus.SUCCEEDED


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"",
        b"[]",
        b'{"Timestamp": "2026-01-01T00:00:00Z"}',
        b'{"FileID": "not-a-guid", "Timestamp": "2026-01-01T00:00:00Z"}',
        b'\xff\xfe{"FileID"',
    ],
    ids=["no-json", "empty", "list", "no-file-id", "bad-guid", "not-utf-8"],
)
def test_a_message_that_cannot_be_read_ends_in_the_dead_letter_queue_whole(
    stack: WholeStack, body: bytes
) -> None:
    message_id = str(uuid4())
    stack.services.files.publish(ServiceBusMessage(body, message_id=message_id))
    dead = stack.wait_for_dead_letter("accepted-file", "extractor-subscription", message_id)
    assert b"".join(dead.body) == body
    assert dead.dead_letter_reason == "MaxDeliveryCountExceeded"
    assert stack.wait_for_end(stack.submit(b"Invoice 13").job_id).status is JobStatus.SUCCEEDED


def test_a_version_that_is_not_known_ends_in_the_dead_letter_queue(stack: WholeStack) -> None:
    stored = stack.services.files.store(b"Invoice 14", "note.txt")
    message_id = str(uuid4())
    stack.services.files.publish(
        ServiceBusMessage(
            accepted_body(stored.file_id),
            message_id=message_id,
            application_properties={"schemaVersion": "2.0"},
        )
    )
    stack.wait_for_dead_letter("accepted-file", "extractor-subscription", message_id)
    assert stack.jobs_of(stored.file_id) == []


@pytest.mark.parametrize("spelling", ["bom", "camel", "extra"])
def test_every_spelling_of_a_message_is_understood(stack: WholeStack, spelling: str) -> None:
    stored = stack.services.files.store(b"Invoice 15", "note.txt")
    body = {
        "bom": b"\xef\xbb\xbf" + accepted_body(stored.file_id),
        "camel": accepted_body(stored.file_id).replace(b"FileID", b"fileId"),
        "extra": accepted_body(stored.file_id).replace(b"{", b'{"Tenant": {"a": [1]}, '),
    }[spelling]
    stack.services.files.publish(ServiceBusMessage(body))
    assert stack.wait_for_end(stored.job_id).status is JobStatus.SUCCEEDED
