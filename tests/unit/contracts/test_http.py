"""Bodies, paths and queries of the HTTP endpoints, and their answers."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from shared.contracts.http import (
    FilePath,
    InvalidRequestError,
    RequestPath,
    RequestsQuery,
    RetryBatchRequest,
)
from shared.contracts.http_answers import (
    AttemptAnswer,
    FileAnswer,
    RequestAnswer,
    RestartAnswer,
)
from shared.domain.retries import FileOutcome, RequestState

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_a_batch_keeps_its_order_and_repeats() -> None:
    batch = RetryBatchRequest.read(b'{"fileIds": ["b", "a", "b"], "initiatedBy": "someone"}')
    assert batch.model_dump() == {"fileIds": ["b", "a", "b"], "reason": "manual_retry"}


@pytest.mark.parametrize(
    ("file_ids", "message"),
    [
        ("[]", "fileIds is required and must contain at least one ID"),
        ("null", "fileIds is required and must contain at least one ID"),
        (str(["x"] * 101).replace("'", '"'), "Cannot retry more than 100 files at once"),
        ('"abc"', "fileIds: Input should be a valid list"),
        ('["a", 5]', "fileIds.1: Input should be a valid string"),
        ('[""]', "fileIds.0: String should have at least 1 character"),
        (f'["{"x" * 129}"]', "fileIds.0: String should have at most 128 characters"),
        ('[" a"]', "fileIds.0: must be printable ASCII without blanks around it"),
        ('["ä"]', "fileIds.0: must be printable ASCII without blanks around it"),
        (r'["a\u0000"]', "fileIds.0: must be printable ASCII without blanks around it"),
    ],
)
def test_a_batch_that_will_not_do_says_why(file_ids: str, message: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        RetryBatchRequest.read(f'{{"fileIds": {file_ids}}}'.encode())
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "file_id", ["abc123", "a b", "%2F", "3F53f4b9-6ff4-4713-a0b6-4a4b17bc5c4a"]
)
def test_a_file_is_named_by_hash_or_id(file_id: str) -> None:
    assert FilePath.read({"fileId": file_id}).fileId == file_id


@pytest.mark.parametrize("name", ["batch", "Batch", "BATCH"])
def test_batch_is_no_file(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="POST /v1/retry/batch takes fileIds"):
        FilePath.read({"fileId": name})


@pytest.mark.parametrize("file_id", ["", "x" * 129, "ä", "a\n"])
def test_another_path_is_refused_by_the_name_of_its_parameter(file_id: str) -> None:
    with pytest.raises(InvalidRequestError, match="fileId: ") as refused:
        FilePath.read({"fileId": file_id})
    assert file_id == "" or file_id not in str(refused.value)


def test_a_request_id_has_64_characters_at_most() -> None:
    assert RequestPath.read({"requestId": "x" * 64}).requestId == "x" * 64
    with pytest.raises(InvalidRequestError, match="requestId"):
        RequestPath.read({"requestId": "x" * 65})


def test_a_query_without_filters_asks_for_everything() -> None:
    assert RequestsQuery.read({"unknown": "x"}) == RequestsQuery()


def test_a_query_is_read_from_text() -> None:
    query = {
        "initiatedBy": "operator@example.com",
        "since": "2026-01-01T14:00:00+02:00",
        "state": "waiting",
    }
    assert RequestsQuery.read(query) == RequestsQuery(
        initiatedBy="operator@example.com", since=NOON, state=RequestState.WAITING
    )
    assert RequestsQuery.read(query).since.tzinfo is UTC


@pytest.mark.parametrize(
    "query",
    [
        {"initiatedBy": "x" * 321},
        {"since": "yesterday"},
        {"since": "1767268800"},
        {"since": "2026-01-01"},
        {"since": "2026-01-01T12:00:00"},
        {"since": "2026-13-01T12:00:00Z"},
        {"since": "0001-01-01T00:00:00+14:00"},
        {"since": "9999-12-31T23:59:59-14:00"},
        {"state": "done"},
        {"state": "queued,running"},
    ],
)
def test_a_filter_that_will_not_do_is_named_without_its_value(query: Mapping[str, str]) -> None:
    ((name, value),) = query.items()
    with pytest.raises(InvalidRequestError, match=f"^{name}: ") as refused:
        RequestsQuery.read(query)
    assert [field for field, _ in refused.value.details] == [name]
    assert value not in str(refused.value)


def test_an_answer_has_times_in_utc_with_three_digits_and_no_nulls() -> None:
    asked = datetime(2026, 1, 1, 13, 0, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
    answer = RequestAnswer(
        requestId="r",
        state=RequestState.PARTIAL,
        reason="manual_restart",
        initiatedBy="operator@example.com",
        clientApplicationId="web-console",
        requestedAt=asked,
        maxRetries=3,
        attempts=[
            AttemptAnswer(
                retryAttempt=1,
                startedAt=NOON,
                files=[FileAnswer(fileId="hash-1", outcome=FileOutcome.PENDING)],
            )
        ],
    )
    assert answer.document() == {
        "requestId": "r",
        "state": "partial",
        "reason": "manual_restart",
        "initiatedBy": "operator@example.com",
        "clientApplicationId": "web-console",
        "requestedAt": "2026-01-01T12:00:00.123Z",
        "maxRetries": 3,
        "attempts": [
            {
                "retryAttempt": 1,
                "startedAt": "2026-01-01T12:00:00.000Z",
                "files": [{"fileId": "hash-1", "outcome": "pending"}],
            }
        ],
    }


def test_what_is_no_field_of_an_answer_cannot_slip_into_it() -> None:
    with pytest.raises(ValidationError, match="password"):
        RestartAnswer.model_validate({"password": "s3cret"})
