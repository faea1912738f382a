"""Reports: their form, and their repetition until they are accepted."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from local.extractor import reports
from local.extractor.jobs import Job
from local.extractor.reports import (
    Report,
    ReportNotAcceptedError,
    failed,
    format_time,
    started,
    succeeded,
    until_accepted,
)

JOB_ID = UUID("7f0c4a2e-3f4b-4a53-9d3f-0d3b8b1f0a11")
TIME = datetime(2024, 1, 1, 12, 30, tzinfo=UTC)
JOB = Job(JOB_ID, "https://files.example.com/a.pdf?sig=secret", TIME, trace_parent="00-a-b-01")


class Broker:
    """Refuses so many reports, then keeps them."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.accepted: list[Report] = []

    async def send(self, report: Report) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ReportNotAcceptedError("the broker is away")
        self.accepted.append(report)


def test_the_envelope_of_a_start():
    assert started(JOB, TIME).envelope() == {
        "specversion": "1.0",
        "id": f"{JOB_ID}:Started",
        "source": "/extractors/sample",
        "type": "JobStarted",
        "subject": str(JOB_ID),
        "time": "2024-01-01T12:30:00.000Z",
        "datacontenttype": "application/json",
        "schemaversion": "1.0",
        "data": {"JobID": str(JOB_ID), "Timestamp": "2024-01-01T12:30:00.000Z"},
    }


def test_a_success_carries_the_summary():
    report = succeeded(JOB, TIME, {"pages": 3})

    assert report.message_id == f"{JOB_ID}:Succeeded"
    assert report.envelope()["type"] == "JobSucceeded"
    assert report.envelope()["data"] == {
        "JobID": str(JOB_ID),
        "Timestamp": "2024-01-01T12:30:00.000Z",
        "ResultSummary": {"pages": 3},
    }


def test_a_failure_carries_the_message_cut_at_its_limit():
    report = failed(JOB, TIME, "x" * 5000)

    assert report.message_id == f"{JOB_ID}:Failed"
    assert report.envelope()["data"]["ErrorMessage"] == "x" * 4000


def test_times_are_utc_with_three_digits():
    elsewhere = timezone(timedelta(hours=-7))

    assert format_time(datetime(2024, 1, 1, 23, tzinfo=elsewhere)) == "2024-01-02T06:00:00.000Z"


async def test_a_report_is_repeated_until_it_is_accepted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reports, "_FIRST_PAUSE", 0.001)
    broker = Broker(refusals=5)

    await until_accepted(broker.send)(started(JOB, TIME))

    assert broker.accepted == [started(JOB, TIME)]


async def test_another_fault_is_not_repeated():
    async def send(report: Report) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await until_accepted(send)(started(JOB, TIME))
