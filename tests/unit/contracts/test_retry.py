"""The retry messages: written as the specification says, and read tolerantly."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from shared.contracts.outgoing import MESSAGE_SIZE_LIMIT
from shared.contracts.retry import (
    METADATA_LIMIT,
    MOST_FILES,
    ExtractionRetryEvent,
    ExtractionRetryResult,
    format_retry_message,
    format_retry_result_message,
    read_retry_event,
    read_retry_result,
    retry_message,
    retry_result_message,
)
from shared.contracts.wire import ContractError

ENQUEUED = datetime(2026, 1, 1, 12, tzinfo=UTC)
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

EVENT = ExtractionRetryEvent(
    requestId="test-request-id",
    fileIds=["file-1"],
    reason="test_retry",
    retryAttempt=1,
    maxRetries=3,
    clientApplicationId="test-client",
    initiatedBy="test-user",
    timestamp=datetime(2024, 1, 1, tzinfo=UTC),
)
EVENT_JSON = {
    "requestId": "test-request-id",
    "fileIds": ["file-1"],
    "reason": "test_retry",
    "retryAttempt": 1,
    "maxRetries": 3,
    "clientApplicationId": "test-client",
    "initiatedBy": "test-user",
    "timestamp": "2024-01-01T00:00:00.000Z",
}
RESULT = ExtractionRetryResult(
    requestId="batch-request",
    fileIds=["file-1", "file-2"],
    successfulIds=["file-1"],
    failedIds=["file-2"],
    errors={"file-2": "Extraction failed"},
    timestamp=datetime(2024, 1, 1, tzinfo=UTC),
    clientApplicationId="test-client",
)
RESULT_JSON = {
    "requestId": "batch-request",
    "fileIds": ["file-1", "file-2"],
    "successfulIds": ["file-1"],
    "failedIds": ["file-2"],
    "errors": {"file-2": "Extraction failed"},
    "timestamp": "2024-01-01T00:00:00.000Z",
    "clientApplicationId": "test-client",
}


def read(document: Any, version: object = None) -> ExtractionRetryEvent:
    return read_retry_event(json.dumps(document).encode(), ENQUEUED, version)


def pascal(document: dict[str, Any]) -> dict[str, Any]:
    return {name[0].upper() + name[1:]: value for name, value in document.items()}


# Writing


def test_the_event_is_flat_json_as_specified() -> None:
    assert json.loads(format_retry_message(EVENT)) == EVENT_JSON


def test_the_events_metadata_is_there_when_given() -> None:
    event = EVENT.model_copy(update={"metadata": {"extractedEntityIds": [1, 2, 3]}})
    document = json.loads(format_retry_message(event))
    assert document == EVENT_JSON | {"metadata": {"extractedEntityIds": [1, 2, 3]}}


def test_the_result_is_flat_json_as_specified() -> None:
    assert json.loads(format_retry_result_message(RESULT)) == RESULT_JSON


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00.000Z"),
        (datetime(2024, 1, 1, 0, 0, 0, 999_999, tzinfo=UTC), "2024-01-01T00:00:00.999Z"),
        (
            datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=-7))),
            "2024-01-01T07:00:00.000Z",
        ),
    ],
)
def test_timestamps_are_utc_with_three_digits(moment: datetime, text: str) -> None:
    event = EVENT.model_copy(update={"timestamp": moment})
    assert json.loads(format_retry_message(event))["timestamp"] == text


def test_an_attempt_is_one_message_however_often_it_is_sent() -> None:
    message = retry_message(EVENT, "extraction-retry", TRACE)
    assert (message.topic, message.subject) == ("extraction-retry", "ExtractionRetryEvent")
    assert message.message_id == "test-request-id:1"
    assert message.correlation_id == "test-request-id"
    assert message.properties == {"schemaVersion": "1.0", "traceparent": TRACE}
    assert message.not_before is None
    later = retry_message(EVENT, "extraction-retry", TRACE, ENQUEUED)
    assert (later.message_id, later.not_before) == ("test-request-id:1", ENQUEUED)


def test_the_results_attempt_travels_as_a_property() -> None:
    message = retry_result_message(RESULT, 2, "extraction-result", TRACE)
    assert (message.topic, message.subject) == ("extraction-result", "ExtractionRetryResult")
    assert message.message_id == "batch-request:2"
    assert message.properties == {"schemaVersion": "1.0", "traceparent": TRACE, "retryAttempt": 2}
    assert "retryAttempt" not in json.loads(message.body)


def test_the_largest_event_fits_into_a_message() -> None:
    largest = ExtractionRetryEvent(
        requestId="r" * 64,
        fileIds=[f"{number:0128}" for number in range(MOST_FILES)],
        reason="😀" * 500,
        clientApplicationId="c" * 64,
        initiatedBy="😀" * 320,
        timestamp=ENQUEUED,
        metadata={"note": "x" * (METADATA_LIMIT - 12)},
    )
    body = retry_message(largest, "extraction-retry", TRACE).body
    assert len(body.encode()) < MESSAGE_SIZE_LIMIT / 2


# Reading


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(EVENT_JSON).encode(),
        b"\xef\xbb\xbf" + json.dumps(EVENT_JSON).encode(),
        json.dumps(pascal(EVENT_JSON)).encode(),
        json.dumps(EVENT_JSON | {"tenant": {"a": [1]}, "Priority": None}).encode(),
    ],
    ids=["as written", "byte-order mark", "PascalCase", "unknown fields"],
)
def test_every_spelling_of_the_event_is_the_same_event(body: bytes) -> None:
    assert read_retry_event(body, ENQUEUED) == EVENT


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(RESULT_JSON).encode(),
        b"\xef\xbb\xbf" + json.dumps(RESULT_JSON).encode(),
        json.dumps(pascal(RESULT_JSON) | {"tenant": 1}).encode(),
    ],
    ids=["as written", "byte-order mark", "PascalCase and unknown fields"],
)
def test_every_spelling_of_the_result_is_the_same_result(body: bytes) -> None:
    assert read_retry_result(body) == RESULT


def test_what_an_event_leaves_out_has_a_default() -> None:
    event = read({"requestId": "r", "fileIds": ["a"]})
    assert event == ExtractionRetryEvent(
        requestId="r",
        fileIds=["a"],
        reason="extraction_failed",
        retryAttempt=1,
        maxRetries=3,
        clientApplicationId="default",
        initiatedBy="unknown",
        timestamp=ENQUEUED,
    )


@pytest.mark.parametrize("missing", [{}, {"timestamp": None}, {"Timestamp": None}])
def test_an_event_without_a_time_was_asked_for_when_it_was_enqueued(missing: Any) -> None:
    assert read({"requestId": "r", "fileIds": ["a"], **missing}).timestamp == ENQUEUED


@pytest.mark.parametrize("version", [None, "1.0", "1.7", 1.0])
def test_every_minor_version_is_read(version: object) -> None:
    assert read(EVENT_JSON, version) == EVENT
    assert read_retry_result(json.dumps(RESULT_JSON).encode(), version) == RESULT


@pytest.mark.parametrize("version", ["2.0", "0.9", "x", ""])
def test_an_unknown_major_version_is_refused(version: object) -> None:
    with pytest.raises(ContractError) as refused:
        read(EVENT_JSON, version)
    assert refused.value.code == "version_unknown"
    with pytest.raises(ContractError, match="schemaVersion"):
        read_retry_result(json.dumps(RESULT_JSON).encode(), version)


@pytest.mark.parametrize("ids", [{}, {"fileIds": []}, {"fileIds": None}, {"FileIds": ""}])
def test_an_event_without_files_is_refused_in_the_specified_words(ids: Any) -> None:
    with pytest.raises(ContractError, match="must contain at least one fileId"):
        read({"requestId": "test-request", **ids})


@pytest.mark.parametrize("id_", [{}, {"requestId": ""}, {"RequestId": None}])
def test_an_event_without_a_request_id_is_refused_in_the_specified_words(id_: Any) -> None:
    with pytest.raises(ContractError, match="must contain a requestId"):
        read({"fileIds": ["file-1"], **id_})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("requestId", "r" * 65),
        ("requestId", "طلب"),
        ("requestId", "a\nb"),
        ("requestId", "  "),
        ("requestId", 5),
        ("fileIds", "file-1"),
        ("fileIds", ["f" * 129]),
        ("fileIds", ["naïve"]),
        ("fileIds", [""]),
        ("fileIds", [None]),
        ("fileIds", [{"id": "a"}]),
        ("fileIds", ["a"] * (MOST_FILES + 1)),
        ("reason", "x" * 501),
        ("reason", None),
        ("retryAttempt", 0),
        ("retryAttempt", -1),
        ("retryAttempt", "1"),
        ("retryAttempt", 1.5),
        ("retryAttempt", True),
        ("retryAttempt", 2**31),
        ("maxRetries", -1),
        ("maxRetries", 10**30),
        ("clientApplicationId", "c" * 65),
        ("initiatedBy", "i" * 321),
        ("timestamp", "yesterday"),
        ("timestamp", "2024-01-01T00:00:00"),
        ("metadata", [1]),
        ("metadata", {"note": "x" * METADATA_LIMIT}),
        ("metadata", {"note": "\ud800"}),
    ],
)
def test_a_field_that_breaks_the_contract_is_named_and_not_shown(field: str, value: Any) -> None:
    with pytest.raises(ContractError) as refused:
        read(EVENT_JSON | {field: value})
    assert refused.value.code == "contract_broken"
    assert str(refused.value).startswith(f"ExtractionRetryEvent: {field}")
    assert not isinstance(value, str) or len(value) < 5 or value not in str(refused.value)


@pytest.mark.parametrize("request_id", ["r" * 64, "a7f8e3d2-4c5b-4e6f-8a9b-c1d2e3f4g5h6"])
def test_a_request_id_is_any_text_up_to_64_characters(request_id: str) -> None:
    assert read(EVENT_JSON | {"requestId": request_id}).requestId == request_id


def test_blanks_around_ids_do_not_count() -> None:
    event = read(EVENT_JSON | {"requestId": " r ", "fileIds": ["  a", "b\t"]})
    assert (event.requestId, event.fileIds) == ("r", ["a", "b"])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "body_empty"),
        (b"no json", "body_not_json"),
        (b"[]", "body_not_object"),
        (b"null", "body_not_object"),
        (b"\xff\xfe{\x00", "body_not_json"),
        (json.dumps(EVENT_JSON)[:-1].encode(), "body_not_json"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused_with_a_stable_code(
    body: bytes, code: str
) -> None:
    for refuse in (lambda: read_retry_event(body, ENQUEUED), lambda: read_retry_result(body)):
        with pytest.raises(ContractError) as refused:
            refuse()
        assert refused.value.code == code
