"""`POST /extract`: taken once, refused with the field named, reported on."""

from uuid import uuid4

import pytest

from local.demo.documents.make_invoice import INVOICE_PATH
from tests.contract.extractor.conftest import FileServer, RunningExtractor

INVOICE = INVOICE_PATH.read_bytes()


async def test_a_job_is_taken_at_once_and_its_end_is_reported(
    extractor: RunningExtractor, files: FileServer
):
    job_id = str(uuid4())

    answer = await extractor.post(fileUrl=files.keep(INVOICE), jobId=job_id.upper())

    assert answer == (202, {"accepted": True, "jobId": job_id})
    start, end = await extractor.reported(2)
    assert (start.type, start.message_id) == ("JobStarted", f"{job_id}:Started")
    assert (end.type, end.message_id) == ("JobSucceeded", f"{job_id}:Succeeded")


async def test_the_summary_counts_what_the_document_holds(
    extractor: RunningExtractor, files: FileServer
):
    end = await extractor.end_of(files.keep(INVOICE))

    summary = end.fields["ResultSummary"]
    assert (summary["mediaType"], summary["pages"]) == ("application/pdf", 3)
    assert summary["characters"] > 1500
    assert summary["found"]["ibans"] == 2
    assert min(summary["found"].values()) > 0
    assert "DE89" not in str(end.envelope())


async def test_the_trace_of_the_call_is_carried_on(extractor: RunningExtractor, files: FileServer):
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    await extractor.post(
        headers={"traceparent": trace}, fileUrl=files.keep(b"text"), jobId=str(uuid4())
    )

    assert {report.trace_parent for report in await extractor.reported(2)} == {trace}


async def test_a_job_that_it_has_already_is_answered_409_and_not_done_again(
    extractor: RunningExtractor, files: FileServer
):
    link, job_id = files.keep(b"text"), uuid4()

    assert await extractor.call(link, job_id=job_id) == 202
    assert await extractor.call(link, job_id=job_id) == 409
    await extractor.reported(2)
    assert await extractor.call(link, job_id=job_id) == 409
    assert await extractor.get(f"/calls/{job_id}") == {
        "jobId": str(job_id),
        "called": 3,
        "taken": 1,
    }
    assert len(files.requested) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"jobId": "7f0c4a2e-3f4b-4a53-9d3f-0d3b8b1f0a11"}, "fileUrl"),
        ({"fileUrl": "https://files.example.com/a.pdf"}, "jobId"),
        ({"fileUrl": "https://files.example.com/a.pdf", "jobId": "1"}, "jobId"),
    ],
)
async def test_a_wrong_call_is_answered_400_with_the_field(
    extractor: RunningExtractor, body: dict[str, str], field: str
):
    status, answer = await extractor.post(**body)

    assert status == 400
    assert (answer["error"], answer["field"]) == ("Bad Request", field)
    assert field in answer["message"]


async def test_a_body_that_is_not_json_is_answered_400(extractor: RunningExtractor):
    async with extractor.raw_post(data=b"fileUrl=x") as answer:
        assert answer.status == 400
        assert (await answer.json())["message"] == "the body must be JSON in UTF-8"


async def test_health_tells_how_many_jobs_are_in_hand(
    extractor: RunningExtractor, files: FileServer
):
    assert await extractor.get("/health") == {"status": "ok", "jobsInHand": 0}

    await extractor.call(files.keep(b"text"), "silent")

    assert await extractor.get("/health") == {"status": "ok", "jobsInHand": 1}


async def test_jobs_in_hand_are_taken_up_again_after_a_restart(
    extractor: RunningExtractor, files: FileServer
):
    extractor.broker_is_up.clear()
    assert await extractor.call(files.keep(b"EUR 5.00")) == 202
    await extractor.stop()
    assert extractor.reports == []

    extractor.broker_is_up.set()
    await extractor.start()

    start, end = await extractor.reported(2)
    assert (start.type, end.type) == ("JobStarted", "JobSucceeded")
    assert end.fields["ResultSummary"]["found"]["amounts"] == 1
