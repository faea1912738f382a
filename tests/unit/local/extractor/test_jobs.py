"""Taken jobs on disk: what a killed extractor finds again."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from local.extractor.jobs import Job, JobStore

TIME = datetime(2024, 1, 1, tzinfo=UTC)


def make_job(minutes: int = 0) -> Job:
    link = "https://files.example.com/a.pdf?sig=secret"
    taken_at = TIME + timedelta(minutes=minutes)
    return Job(uuid4(), link, taken_at, trace_parent="00-a-b-01", behaviours=("slow=1",))


def test_a_job_is_taken_once(tmp_path: Path):
    job = make_job()

    assert JobStore(tmp_path).accept(job)
    assert not JobStore(tmp_path).accept(job)


def test_a_job_that_has_ended_is_not_taken_again(tmp_path: Path):
    store, job = JobStore(tmp_path), make_job()
    store.accept(job)
    store.keep_result(job, {"errorMessage": "no"})
    store.end(job)

    assert not store.accept(job)


def test_unfinished_jobs_are_found_again_in_order(tmp_path: Path):
    later, earlier, ended = make_job(2), make_job(1), make_job(0)
    store = JobStore(tmp_path)
    for job in (later, earlier, ended):
        store.accept(job)
    store.keep_result(ended, {})
    store.end(ended)

    assert JobStore(tmp_path).unfinished() == [earlier, later]


def test_a_job_whose_end_is_not_reported_is_unfinished_and_keeps_its_result(tmp_path: Path):
    store, job = JobStore(tmp_path), make_job()
    store.accept(job)
    store.keep_result(job, {"resultSummary": {"pages": 1}, "findings": ["é"]})

    assert store.unfinished() == [job]
    assert store.result(job) == {"resultSummary": {"pages": 1}, "findings": ["é"]}


def test_a_job_in_hand_has_no_result(tmp_path: Path):
    store, job = JobStore(tmp_path), make_job()
    store.accept(job)

    assert store.result(job) is None


def test_the_signed_link_is_private_and_goes_with_the_end(tmp_path: Path):
    store, job = JobStore(tmp_path), make_job()
    store.accept(job)
    [accepted] = (tmp_path / "accepted").iterdir()
    assert stat.S_IMODE(accepted.stat().st_mode) == 0o600

    store.keep_result(job, {})
    store.end(job)

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in files] == [f"{job.job_id}.json"]
    assert "secret" not in files[0].read_text()
