"""The job status messages: what we write is what the specification says, and reads back."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from shared.contracts.job_status import (
    JobCancelled,
    JobFailed,
    JobQueued,
    JobStarted,
    JobSucceeded,
    message_id,
    read_job_status,
)
from shared.contracts.outgoing import (
    MESSAGE_SIZE_LIMIT,
    MessageTooLargeError,
    OutgoingMessage,
    job_status_message,
    trace_parent_of,
)
from shared.contracts.wire import ContractError, format_timestamp
from shared.domain.jobs import JobStatus

JOB = UUID("11111111-2222-5333-8444-555555555555")
FILE = UUID("66666666-7777-4888-9999-aaaaaaaaaaaa")
AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

MESSAGES = [
    (
        JobQueued(JobID=JOB, FileID=FILE, ExtractorID=7, Timestamp=AT),
        {"JobID": str(JOB), "FileID": str(FILE), "ExtractorID": 7},
    ),
    (JobStarted(JobID=JOB, Timestamp=AT), {"JobID": str(JOB)}),
    (
        JobSucceeded(JobID=JOB, Timestamp=AT, ResultSummary={"pages": 3}),
        {"JobID": str(JOB), "ResultSummary": {"pages": 3}},
    ),
    (
        JobFailed(JobID=JOB, Timestamp=AT, ErrorMessage="no text"),
        {"JobID": str(JOB), "ErrorMessage": "no text"},
    ),
    (
        JobCancelled(JobID=JOB, Timestamp=AT, Reason="asked for"),
        {"JobID": str(JOB), "Reason": "asked for"},
    ),
]


def envelope(type_: str = "JobSucceeded", **data: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": "x",
        "source": "/extractors/demo",
        "type": type_,
        "data": {"JobID": str(JOB), "Timestamp": "2026-01-01T00:00:00Z"} | data,
    }


def read(document: Any, version: object = None) -> Any:
    return read_job_status(json.dumps(document).encode(), version)


@pytest.mark.parametrize(("message", "fields"), MESSAGES)
def test_a_message_holds_exactly_the_specified_fields(message: Any, fields: dict[str, Any]) -> None:
    sent = job_status_message(message, "job-status", TRACE)
    document = json.loads(sent.body)
    assert document["data"] == fields | {"Timestamp": "2026-01-02T03:04:05.678Z"}
    assert document["type"] == sent.subject == type(message).__name__


@pytest.mark.parametrize(("message", "fields"), MESSAGES)
def test_what_we_write_reads_back(message: Any, fields: dict[str, Any]) -> None:
    report = read_job_status(job_status_message(message, "job-status", TRACE).body.encode())
    assert report.job_id == JOB
    assert type(report.message) is type(message)


def test_a_message_carries_its_one_id_and_the_cloud_events_attributes() -> None:
    sent = job_status_message(JobStarted(JobID=JOB, Timestamp=AT), "job-status", TRACE)
    document = json.loads(sent.body)
    assert sent.message_id == document["id"] == f"{JOB}:Started"
    assert sent.correlation_id == document["subject"] == str(JOB)
    assert document["specversion"] == "1.0"
    assert document["datacontenttype"] == "application/json"
    assert document["schemaversion"] == "1.0"
    assert sent.properties == {"schemaVersion": "1.0", "traceparent": TRACE}


def test_an_extractor_may_spell_names_its_own_way() -> None:
    document = {
        "Type": "JobStarted",
        "Data": {"jobId": str(JOB).upper(), "timestamp": AT.isoformat()},
    }
    report = read(document)
    assert report.job_id == JOB
    assert report.status is JobStatus.STARTED


def test_the_raw_report_keeps_fields_that_we_do_not_know() -> None:
    report = read(envelope(ResultSummary={"pages": 1}, Model="v7"))
    assert json.loads(report.raw)["Model"] == "v7"


@pytest.mark.parametrize("summary", [{"pages": 3}, "three pages", None, {"ä": "😀"}])
def test_a_result_summary_is_an_object_or_text(summary: Any) -> None:
    assert read(envelope(ResultSummary=summary)).message.ResultSummary == summary


@pytest.mark.parametrize("summary", [5, ["pages"], True, {"pages": "x" * 17_000}, "ä" * 9_000])
def test_other_or_oversized_summaries_are_refused_by_name(summary: Any) -> None:
    with pytest.raises(ContractError, match="ResultSummary"):
        read(envelope(ResultSummary=summary))


def test_an_error_message_is_cut_at_4000_characters() -> None:
    report = read(envelope("JobFailed", ErrorMessage="x" * 5_000))
    assert len(report.text) == 4_000


@pytest.mark.parametrize("given", [{}, {"ErrorMessage": ""}])
def test_a_failure_without_a_reason_says_so(given: dict[str, Any]) -> None:
    assert read(envelope("JobFailed", **given)).text == "The extractor gave no reason"


def test_an_error_message_that_is_not_text_is_kept_as_json() -> None:
    assert read(envelope("JobFailed", ErrorMessage={"code": 5})).text == '{"code": 5}'


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (envelope("JobPaused"), "type_unknown"),
        (envelope() | {"schemaversion": "2.0"}, "version_unknown"),
        ({"type": "JobStarted"}, "contract_broken"),
        (envelope() | {"data": "text"}, "contract_broken"),
        (envelope("JobStarted", JobID="x"), "contract_broken"),
        (envelope("JobQueued", ExtractorID=1), "contract_broken"),
    ],
)
def test_a_broken_envelope_is_refused_with_a_stable_code(document: Any, code: str) -> None:
    with pytest.raises(ContractError) as refused:
        read(document)
    assert refused.value.code == code


def test_the_version_property_of_the_message_counts_too() -> None:
    with pytest.raises(ContractError):
        read(envelope(), "3.1")


def test_message_ids_are_lower_case_whatever_was_sent() -> None:
    assert message_id(UUID(str(JOB).upper()), JobStatus.FAILED) == f"{JOB}:Failed"


def test_timestamps_are_utc_with_three_digits() -> None:
    east = datetime(2024, 1, 1, 2, 0, tzinfo=timezone(timedelta(hours=2)))
    assert format_timestamp(east) == "2024-01-01T00:00:00.000Z"


def test_a_message_that_the_broker_would_refuse_is_not_even_made() -> None:
    with pytest.raises(MessageTooLargeError, match="JobX a:b"):
        OutgoingMessage("t", "a:b", "JobX", "ä" * (MESSAGE_SIZE_LIMIT // 2 + 1), "c")


def test_an_incoming_trace_is_taken_over() -> None:
    assert trace_parent_of(TRACE) == TRACE


@pytest.mark.parametrize("incoming", [None, "", "x", "00-zz", TRACE[:-1], "g" * 55, b"\x00"])
def test_a_trace_that_is_none_starts_a_fresh_one(incoming: object) -> None:
    fresh = trace_parent_of(incoming)
    assert trace_parent_of(fresh) == fresh
    assert fresh != trace_parent_of(incoming)
