"""Misbehaviour on demand, as a caller and the job status topic meet it."""

import time
from uuid import uuid4

import aiohttp
import pytest

from tests.contract.extractor.conftest import FileServer, RunningExtractor

UNREACHABLE = "http://127.0.0.1:9/never-fetched.pdf"


def body() -> dict[str, str]:
    return {"fileUrl": UNREACHABLE, "jobId": str(uuid4())}


async def test_an_unknown_behaviour_is_answered_400(extractor: RunningExtractor):
    status, answer = await extractor.post("unheard-of", **body())

    assert status == 400
    assert "there is no behaviour unheard-of" in answer["message"]


async def test_slow_answers_late(extractor: RunningExtractor):
    begun = time.monotonic()

    assert await extractor.call(UNREACHABLE, "slow=0.2,instant") == 202

    assert time.monotonic() - begun >= 0.2


async def test_fail_counts_the_calls_of_a_file_over_all_jobs(extractor: RunningExtractor):
    answers = [await extractor.call(UNREACHABLE, "fail=2,instant") for _ in range(4)]

    assert answers == [503, 503, 202, 202]


async def test_fail_counts_on_after_a_restart(extractor: RunningExtractor):
    assert await extractor.call(UNREACHABLE, "fail=2,instant") == 503
    await extractor.stop()
    await extractor.start()

    answers = [await extractor.call(UNREACHABLE, "fail=2,instant") for _ in range(2)]

    assert answers == [503, 202]


async def test_retry_after_comes_with_the_refusal(extractor: RunningExtractor):
    async with extractor.raw_post(json=body(), params={"behaviour": "retry-after=7"}) as answer:
        assert (answer.status, answer.headers["Retry-After"]) == (429, "7")


async def test_redirect_points_to_where_the_job_would_be_taken(extractor: RunningExtractor):
    async with extractor.raw_post(json=body(), params={"behaviour": "redirect"}) as answer:
        assert (answer.status, answer.headers["Location"]) == (307, "/extract")


@pytest.mark.parametrize(("behaviour", "status"), [("status=418", 418), ("refuse", 400)])
async def test_a_refused_job_is_not_taken(extractor: RunningExtractor, behaviour: str, status: int):
    job_id = uuid4()

    assert await extractor.call(UNREACHABLE, behaviour, job_id) == status
    calls = await extractor.get(f"/calls/{job_id}")
    assert (calls["called"], calls["taken"]) == (1, 0)


@pytest.mark.parametrize(("behaviour", "taken"), [("empty", 0), ("lose-answer", 1)])
async def test_a_connection_may_close_without_an_answer(
    extractor: RunningExtractor, behaviour: str, taken: int
):
    job_id = uuid4()

    with pytest.raises(aiohttp.ClientConnectionError):
        await extractor.call(UNREACHABLE, behaviour, job_id)

    assert (await extractor.get(f"/calls/{job_id}"))["taken"] == taken


async def test_a_job_whose_answer_was_lost_is_answered_409_next_time(extractor: RunningExtractor):
    job_id = uuid4()
    with pytest.raises(aiohttp.ClientConnectionError):
        await extractor.call(UNREACHABLE, "lose-answer,instant", job_id)

    assert await extractor.call(UNREACHABLE, "instant", job_id) == 409


async def test_html_is_an_answer_that_takes_the_job(extractor: RunningExtractor):
    async with extractor.raw_post(json=body(), params={"behaviour": "html,instant"}) as answer:
        assert (answer.status, answer.content_type) == (202, "text/html")

    await extractor.reported(2)


async def test_big_is_an_answer_of_ten_megabytes(extractor: RunningExtractor):
    wishes = {"behaviour": "big,status=200,instant"}
    async with extractor.raw_post(json=body(), params=wishes) as answer:
        assert answer.status == 200
        assert len(await answer.read()) > 10 * 1024**2


async def test_instant_succeeds_without_fetching_the_file(extractor: RunningExtractor):
    end = await extractor.end_of(UNREACHABLE, "instant")

    assert [report.type for report in extractor.reports] == ["JobStarted", "JobSucceeded"]
    assert end.fields["ResultSummary"]["pages"] == 0


async def test_fail_report_fails_the_job(extractor: RunningExtractor):
    end = await extractor.end_of(UNREACHABLE, "fail-report")

    assert end.fields == {"ErrorMessage": "The extractor was asked to report a failure."}


async def test_fail_reports_fails_the_first_jobs_of_a_file(extractor: RunningExtractor):
    ends = [await extractor.end_of(UNREACHABLE, "fail-reports=2,instant") for _ in range(3)]

    assert [end.type for end in ends] == ["JobFailed", "JobFailed", "JobSucceeded"]
    other = await extractor.end_of(f"{UNREACHABLE}/other", "fail-reports=1,instant")
    assert other.type == "JobFailed"


async def test_fail_reports_counts_on_after_a_restart(extractor: RunningExtractor):
    assert (await extractor.end_of(UNREACHABLE, "fail-reports=1,instant")).type == "JobFailed"
    await extractor.stop()
    await extractor.start()

    assert (await extractor.end_of(UNREACHABLE, "fail-reports=1,instant")).type == "JobSucceeded"


async def test_busy_reports_the_end_later(extractor: RunningExtractor):
    begun = time.monotonic()

    await extractor.end_of(UNREACHABLE, "instant,busy=0.2")

    assert time.monotonic() - begun >= 0.2


async def test_silent_takes_the_job_and_reports_nothing(
    extractor: RunningExtractor, files: FileServer
):
    assert await extractor.call(files.keep(b"text"), "silent") == 202
    await extractor.end_of(UNREACHABLE, "instant")

    assert len(extractor.reports) == 2


async def test_report_twice_repeats_each_under_another_message_id(extractor: RunningExtractor):
    await extractor.call(UNREACHABLE, "instant,report-twice")

    reports = await extractor.reported(4)

    assert [report.type for report in reports] == ["JobStarted"] * 2 + ["JobSucceeded"] * 2
    assert len({report.message_id for report in reports}) == 4
    assert reports[0].envelope()["data"] == reports[1].envelope()["data"]


async def test_report_late_tells_the_start_after_the_end(extractor: RunningExtractor):
    await extractor.call(UNREACHABLE, "instant,report-late=0.1")

    reports = await extractor.reported(2)

    assert [report.type for report in reports] == ["JobSucceeded", "JobStarted"]


async def test_report_as_speaks_for_another_job(extractor: RunningExtractor):
    other = uuid4()
    await extractor.call(UNREACHABLE, f"instant,report-as={other}")

    reports = await extractor.reported(2)

    assert [report.message_id for report in reports] == [f"{other}:Started", f"{other}:Succeeded"]
    assert {report.envelope()["data"]["JobID"] for report in reports} == {str(other)}
