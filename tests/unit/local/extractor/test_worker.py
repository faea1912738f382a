"""The work on a job: started, extracted, kept, ended, in this order and across restarts."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from local.extractor.errors import ExtractionError
from local.extractor.extraction import Extraction
from local.extractor.jobs import Job, JobStore
from local.extractor.reports import Report
from local.extractor.worker import Worker
from tests.until import until


class Sink:
    """Keeps reports once it is open."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.reports: list[Report] = []
        self.open = asyncio.Event()
        if is_open:
            self.open.set()

    async def send(self, report: Report) -> None:
        await self.open.wait()
        self.reports.append(report)

    @property
    def types(self) -> list[str]:
        return [report.type for report in self.reports]


class Extractions:
    """Counts the extractions, and how many were in hand at most; they end when let go."""

    def __init__(self) -> None:
        self.begun = self.in_hand = self.most_in_hand = 0
        self.go_on = asyncio.Event()

    async def extract(self, job: Job) -> Extraction:
        self.begun += 1
        self.in_hand += 1
        self.most_in_hand = max(self.in_hand, self.most_in_hand)
        await self.go_on.wait()
        self.in_hand -= 1
        return Extraction({"pages": 1}, [{"kind": "dates", "value": "2024-01-01", "page": 1}])


@pytest.fixture
def store(tmp_path: Path) -> JobStore:
    return JobStore(tmp_path)


def take(store: JobStore) -> Job:
    job = Job(uuid4(), "https://files.example.com/a.pdf", datetime.now(UTC))
    assert store.accept(job)
    return job


async def until_idle(worker: Worker) -> None:
    await until(lambda: not worker.in_hand)


async def instantly(_job: Job) -> Extraction:
    return Extraction({"pages": 1}, [])


async def test_a_job_is_started_then_succeeds(store: JobStore):
    sink, worker, job = Sink(), Worker(store), take(store)

    worker.begin(job, instantly, sink.send)
    await until_idle(worker)

    assert sink.types == ["JobStarted", "JobSucceeded"]
    summary = sink.reports[1].fields["ResultSummary"]
    assert summary["pages"] == 1
    assert summary["durationMs"] >= 0
    assert store.unfinished() == []


async def test_what_was_found_is_kept_but_not_reported(store: JobStore):
    sink, extractions, worker, job = Sink(), Extractions(), Worker(store), take(store)
    extractions.go_on.set()

    worker.begin(job, extractions.extract, sink.send)
    await until_idle(worker)

    kept = store.result(job)
    assert kept is not None
    assert kept["findings"] == [{"kind": "dates", "value": "2024-01-01", "page": 1}]
    assert "2024-01-01" not in str(sink.reports[1].fields)


async def test_a_file_that_cannot_be_extracted_fails_the_job_with_the_reason(store: JobStore):
    async def refuse(_job: Job) -> Extraction:
        raise ExtractionError("The file is empty (0 bytes).")

    sink, worker, job = Sink(), Worker(store), take(store)

    worker.begin(job, refuse, sink.send)
    await until_idle(worker)

    assert sink.types == ["JobStarted", "JobFailed"]
    assert sink.reports[1].fields == {"ErrorMessage": "The file is empty (0 bytes)."}


async def test_a_fault_of_the_extractor_fails_the_job_without_details(store: JobStore):
    async def crash(_job: Job) -> Extraction:
        raise ZeroDivisionError("details")

    sink, worker, job = Sink(), Worker(store), take(store)

    worker.begin(job, crash, sink.send)
    await until_idle(worker)

    assert sink.types == ["JobStarted", "JobFailed"]
    assert "details" not in str(sink.reports[1].fields)


async def test_extraction_does_not_wait_for_the_broker_but_the_end_waits_for_the_start(
    store: JobStore,
):
    sink, worker, job = Sink(is_open=False), Worker(store), take(store)

    worker.begin(job, instantly, sink.send)
    await until(lambda: store.result(job))
    assert sink.types == []

    sink.open.set()
    await until_idle(worker)
    assert sink.types == ["JobStarted", "JobSucceeded"]


async def test_only_so_many_documents_are_worked_on_at_once(store: JobStore):
    sink, extractions, worker = Sink(), Extractions(), Worker(store, at_once=2)
    for _ in range(5):
        worker.begin(take(store), extractions.extract, sink.send)
    await until(lambda: extractions.begun == 2)
    extractions.go_on.set()
    await until_idle(worker)

    assert (extractions.begun, extractions.most_in_hand) == (5, 2)
    assert sorted(sink.types) == ["JobStarted"] * 5 + ["JobSucceeded"] * 5


async def test_work_that_was_dropped_is_done_by_the_next_worker(store: JobStore):
    sink, extractions, job = Sink(), Extractions(), take(store)
    first = Worker(store)
    first.begin(job, extractions.extract, sink.send)
    await until(lambda: sink.types == ["JobStarted"])
    await first.close()

    second = Worker(store)
    second.begin(job, instantly, sink.send)
    await until_idle(second)

    assert sink.types == ["JobStarted", "JobStarted", "JobSucceeded"]
    assert sink.reports[0].message_id == sink.reports[1].message_id


async def test_an_end_that_was_not_reported_is_reported_later_without_extracting_again(
    store: JobStore,
):
    job = take(store)
    away = Sink(is_open=False)
    first = Worker(store)
    first.begin(job, instantly, away.send)
    await until(lambda: store.result(job))
    await first.close()

    back, extractions, second = Sink(), Extractions(), Worker(store)
    second.begin(job, extractions.extract, back.send)
    await until_idle(second)

    assert back.types == ["JobStarted", "JobSucceeded"]
    assert extractions.begun == 0
