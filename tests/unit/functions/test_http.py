"""The HTTP edge: every error becomes one form of answer, and nothing internal leaves in it."""

import json
import logging
from typing import Any
from uuid import UUID

import azure.functions as func
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.auth import ForbiddenError, UnauthorizedError
from shared.contracts.http import (
    Body,
    InvalidRequestError,
    RestartRequest,
    RetryBatchRequest,
    RetryFileRequest,
)
from shared.contracts.http_answers import ErrorAnswer, RetryFileAnswer
from shared.contracts.wire import ContractError
from shared.domain.errors import ConflictingStateError, NotFoundError, TransientError
from shared.functions.http import answer, current_exchange, endpoint, read_body
from shared.telemetry import log_event

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "SELECT [secret] FROM /home/site; AccountKey=k3y=="
GOOD = b'{"extractedEntityIds": [3, 1, 3]}'


def request(
    body: bytes = b"", headers: dict[str, str] | None = None, method: str = "POST"
) -> func.HttpRequest:
    return func.HttpRequest(method, "/", headers=headers or {}, body=body)


def restart(body: bytes, **headers: str) -> func.HttpResponse:
    """What an endpoint that takes a RestartRequest answers."""
    return takes(RestartRequest, body, {name.replace("_", "-"): headers[name] for name in headers})


def takes(
    model: type[Body], body: bytes, headers: dict[str, str] | None = None
) -> func.HttpResponse:
    return endpoint(lambda req: answer(read_body(req, model).model_dump()))(request(body, headers))


def raises(error: Exception) -> func.HttpResponse:
    def handler(req: func.HttpRequest) -> func.HttpResponse:
        raise error

    return endpoint(handler)(request())


def read(response: func.HttpResponse) -> Any:
    return json.loads(response.get_body())


@pytest.mark.parametrize(
    ("error", "status", "body", "headers"),
    [
        (
            UnauthorizedError("expired at 12:00"),
            401,
            {"error": "Unauthorized", "message": "A valid bearer token is required"},
            {"WWW-Authenticate": "Bearer"},
        ),
        (
            ForbiddenError("The token lacks the role X"),
            403,
            {"error": "Forbidden", "message": "The token lacks the role X"},
            {},
        ),
        (
            NotFoundError("There is no job with this id"),
            404,
            {"error": "Not Found", "message": "There is no job with this id"},
            {},
        ),
        (
            NotFoundError("The request has not arrived yet", retry_after=2),
            404,
            {"error": "Not Found", "message": "The request has not arrived yet"},
            {"Retry-After": "2"},
        ),
        (
            ConflictingStateError("The job has Succeeded"),
            409,
            {"error": "Conflict", "message": "The job has Succeeded"},
            {},
        ),
        (
            TransientError("database", SECRET),
            503,
            {
                "error": "Service Unavailable",
                "message": "The database is out of reach; try again later",
            },
            {"Retry-After": "5"},
        ),
        (
            ContractError("body_not_json", "The body is not JSON in UTF-8"),
            400,
            {"error": "Bad Request", "message": "The body is not JSON in UTF-8"},
            {},
        ),
        (
            InvalidRequestError("a: must be b", [("a", "must be b")]),
            400,
            {
                "error": "Bad Request",
                "message": "a: must be b",
                "details": [{"field": "a", "message": "must be b"}],
            },
            {},
        ),
        (
            KeyError(SECRET),
            500,
            {
                "error": "Internal Server Error",
                "message": "The request failed inside the service; its log says why",
            },
            {},
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_becomes_its_answer(
    error: Exception, status: int, body: dict[str, Any], headers: dict[str, str]
) -> None:
    response = raises(error)
    assert response.status_code == status
    assert response.mimetype == "application/json"
    assert read(response) == body
    assert {name: response.headers.get(name) for name in headers} == headers
    ErrorAnswer.model_validate(read(response))


def test_why_a_request_failed_is_in_the_log_without_its_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raises(RuntimeError(SECRET))
    (line,) = [line for line in caplog.messages if line.startswith("Request failed")]
    assert "RuntimeError: SELECT" in line
    assert "test_http.py" in line
    assert "k3y" not in line
    assert "\n" not in line


def test_which_check_a_token_failed_is_in_the_log_only(caplog: pytest.LogCaptureFixture) -> None:
    response = raises(UnauthorizedError("expired at 12:00"))
    assert b"12:00" not in response.get_body()
    assert "expired at 12:00" in caplog.text


def test_an_answer_of_a_model_leaves_out_what_is_none() -> None:
    response = answer(RetryFileAnswer(requestId="r", fileId="f"))
    assert read(response) == {"requestId": "r", "fileId": "f", "status": "queued"}
    assert read(answer(ErrorAnswer(error="e", message="m"))) == {"error": "e", "message": "m"}


# Correlation


def echo(req: func.HttpRequest) -> func.HttpResponse:
    log_event(logging.getLogger("shared.services.x"), "Inside", jobId="j")
    return answer({"traceparent": current_exchange().trace_parent})


@pytest.mark.parametrize("given_id", ["abc", "A1._:-z", "x" * 64])
def test_the_request_id_of_the_caller_is_taken_over(given_id: str) -> None:
    response = endpoint(echo)(request(headers={"x-request-id": given_id}))
    assert response.headers["x-request-id"] == given_id


@pytest.mark.parametrize("given_id", [None, "", "x" * 65, "a b", "a\nb", "ä", "a,b", '{"a":1}'])
def test_a_request_id_that_will_not_do_is_replaced(given_id: str | None) -> None:
    headers = {} if given_id is None else {"x-request-id": given_id}
    made = endpoint(echo)(request(headers=headers)).headers["x-request-id"]
    assert UUID(made)


def test_an_error_carries_the_request_id_too() -> None:
    def fails(req: func.HttpRequest) -> func.HttpResponse:
        raise KeyError

    response = endpoint(fails)(request(headers={"x-request-id": "abc"}))
    assert (response.status_code, response.headers["x-request-id"]) == (500, "abc")


def test_every_log_line_of_a_request_carries_its_id_and_its_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    endpoint(echo)(request(headers={"x-request-id": "abc", "traceparent": TRACE}))
    lines = [json.loads("{" + line.partition(" {")[2]) for line in caplog.messages]
    trace_id = TRACE.split("-")[1]
    assert [(line["requestId"], line["traceId"]) for line in lines] == [("abc", trace_id)] * 2
    assert lines[0]["jobId"] == "j"
    assert (lines[1]["function"], lines[1]["status"]) == ("echo", 200)
    assert lines[1]["durationMs"] >= 0


def test_the_id_of_one_request_is_not_on_the_lines_after_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    endpoint(echo)(request(headers={"x-request-id": "abc"}))
    caplog.clear()
    log_event(logging.getLogger("x"), "Later", logging.WARNING)
    assert caplog.messages == ["Later"]
    with pytest.raises(LookupError):
        current_exchange()


def test_the_trace_of_the_caller_goes_on() -> None:
    response = endpoint(echo)(request(headers={"traceparent": TRACE}))
    assert read(response) == {"traceparent": TRACE}


@pytest.mark.parametrize("broken", ["", "00-1-2-03", TRACE + "x", TRACE.replace("0af7", "zzzz")])
def test_a_broken_trace_is_replaced(broken: str) -> None:
    made = read(endpoint(echo)(request(headers={"traceparent": broken})))["traceparent"]
    assert made != broken
    assert len(made) == len(TRACE)


# Bodies

IDS_MISSING = "extractedEntityIds is required and must contain at least one ID"
TOO_MANY = "Cannot restart more than 100 entities at once"
NOT_JSON = "The body is not JSON in UTF-8"
NOT_OBJECT = "The body must be a JSON object"

REFUSED = {
    "empty": (b"", "The body is empty; a JSON object is expected"),
    "blank": (b" \r\n", "The body is empty; a JSON object is expected"),
    "null": (b"null", NOT_OBJECT),
    "list": (b"[]", NOT_OBJECT),
    "text": (b'"x"', NOT_OBJECT),
    "number": (b"5", NOT_OBJECT),
    "truncated": (GOOD[:-1], NOT_JSON),
    "trailing": (GOOD + b"x", NOT_JSON),
    "two objects": (GOOD + GOOD, NOT_JSON),
    "UTF-16": (GOOD.decode().encode("utf-16"), NOT_JSON),
    "UTF-16 without a mark": (GOOD.decode().encode("utf-16-le"), NOT_JSON),
    "UTF-32": (GOOD.decode().encode("utf-32"), NOT_JSON),
    "Latin-1": ('{"reason": "é"}'.encode("latin-1"), NOT_JSON),
    "compressed": (b"\x1f\x8b\x08\x00", NOT_JSON),
    "NaN": (b'{"extractedEntityIds": [NaN]}', NOT_JSON),
    "deep": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, NOT_JSON),
    "number of 5000 digits": (b'{"extractedEntityIds": [' + b"9" * 5000 + b"]}", NOT_JSON),
    "form": (b"extractedEntityIds=1", NOT_JSON),
    "no ids": (b"{}", IDS_MISSING),
    "ids in another case": (b'{"extractedentityids": [1]}', IDS_MISSING),
    "empty ids": (b'{"extractedEntityIds": []}', IDS_MISSING),
    "null ids": (b'{"extractedEntityIds": null}', IDS_MISSING),
    "101 ids": (json.dumps({"extractedEntityIds": [*range(1, 102)]}).encode(), TOO_MANY),
    "101 repeats": (json.dumps({"extractedEntityIds": [7] * 101}).encode(), TOO_MANY),
    "101 strings": (json.dumps({"extractedEntityIds": ["x"] * 101}).encode(), TOO_MANY),
}


@pytest.mark.parametrize(("body", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_body_that_will_not_do_is_400_and_says_why(body: bytes, message: str) -> None:
    response = restart(body)
    assert response.status_code == 400
    assert read(response) == {"error": "Bad Request", "message": message}


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ('"1"', "Input should be a valid integer"),
        ("1.0", "Input should be a valid integer"),
        ("1e0", "Input should be a valid integer"),
        ("1.5", "Input should be a valid integer"),
        ("true", "Input should be a valid integer"),
        ("null", "Input should be a valid integer"),
        ("[1]", "Input should be a valid integer"),
        ('{"a": 1}', "Input should be a valid integer"),
        ("0", "Input should be greater than or equal to 1"),
        ("-1", "Input should be greater than or equal to 1"),
        ("9223372036854775808", "Input should be less than or equal to 9223372036854775807"),
        ("9" * 400, "Input should be less than or equal to 9223372036854775807"),
    ],
)
def test_an_id_that_is_no_positive_64_bit_integer_is_named_by_its_place(
    value: str, rule: str
) -> None:
    response = restart(b'{"extractedEntityIds": [7, %s]}' % value.encode())
    assert response.status_code == 400
    assert read(response) == {
        "error": "Bad Request",
        "message": f"extractedEntityIds.1: {rule}",
        "details": [{"field": "extractedEntityIds.1", "message": rule}],
    }


@pytest.mark.parametrize("reason", ['""', '"' + "x" * 501 + '"', "null", "5", "[]", r'"\ud800"'])
def test_a_reason_is_1_to_500_characters(reason: str) -> None:
    response = restart(b'{"extractedEntityIds": [1], "reason": %s}' % reason.encode())
    assert response.status_code == 400
    assert [detail["field"] for detail in read(response)["details"]] == ["reason"]


def test_what_is_wrong_is_listed_field_by_field_without_what_was_sent() -> None:
    body = {"extractedEntityIds": ["s3cret", 1, {"k": "s3cret"}], "reason": ["s3cret"]}
    response = restart(json.dumps(body | {"password": "s3cret"}).encode())
    assert [detail["field"] for detail in read(response)["details"]] == [
        "extractedEntityIds.0",
        "extractedEntityIds.2",
        "reason",
    ]
    assert b"s3cret" not in response.get_body()


@pytest.mark.parametrize(
    ("body", "ids", "reason"),
    [
        (GOOD, [3, 1, 3], "manual_restart"),
        (b"\xef\xbb\xbf" + GOOD, [3, 1, 3], "manual_restart"),
        (b" \n" + GOOD + b"\n", [3, 1, 3], "manual_restart"),
        (b'{"extractedEntityIds": [9223372036854775807], "x": {}}', [2**63 - 1], "manual_restart"),
        (b'{"extractedEntityIds": [1], "reason": "x"}', [1], "x"),
        ('{"extractedEntityIds": [1], "reason": "über 😀"}'.encode(), [1], "über 😀"),
        (json.dumps({"extractedEntityIds": [5] * 100}).encode(), [5] * 100, "manual_restart"),
    ],
)
def test_a_good_body_is_taken_in_its_order_with_its_repeats(
    body: bytes, ids: list[int], reason: str
) -> None:
    response = restart(body)
    assert response.status_code == 200
    assert read(response) == {"extractedEntityIds": ids, "reason": reason}


@pytest.mark.parametrize(
    ("content_type", "accepted"),
    [
        (None, True),
        ("", True),
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/json;charset=utf-16", True),
        ("application/json ; a=b", True),
        ("text/plain", False),
        ("application/jsonx", False),
        ("application/problem+json", False),
        ("application/x-www-form-urlencoded", False),
        ("multipart/form-data; boundary=application/json", False),
        ("application/json,text/plain", False),
    ],
)
def test_json_may_be_named_or_not_and_nothing_else(
    content_type: str | None, accepted: bool
) -> None:
    headers = {} if content_type is None else {"content-type": content_type}
    response = takes(RestartRequest, GOOD, headers)
    assert response.status_code == (200 if accepted else 415)
    if not accepted:
        assert "application/json" in read(response)["message"]


def padded(size: int) -> bytes:
    return GOOD + b" " * (size - len(GOOD))


@pytest.mark.parametrize(
    ("body", "announced", "status"),
    [
        (padded(64 * 1024), None, 200),
        (padded(64 * 1024 + 1), None, 413),
        (padded(64 * 1024), str(64 * 1024), 200),
        (b"", str(64 * 1024 + 1), 413),
        (b"", "9" * 5000, 413),
        (GOOD, "nonsense", 200),
    ],
)
def test_a_body_above_64_kb_is_413_also_when_it_is_only_announced(
    body: bytes, announced: str | None, status: int
) -> None:
    headers = {} if announced is None else {"content-length": announced}
    response = takes(RestartRequest, body, headers)
    assert response.status_code == status
    assert status == 200 or "64 KB" in read(response)["message"]


def test_a_chunked_body_which_arrives_empty_is_411_and_says_so() -> None:
    response = restart(b"", transfer_encoding="chunked")
    assert response.status_code == 411
    assert read(response) == {
        "error": "Length Required",
        "message": "Send the body with a Content-Length header, not in chunks",
    }


def test_a_chunked_body_that_did_arrive_is_read() -> None:
    assert restart(GOOD, transfer_encoding="chunked").status_code == 200


def test_a_retry_of_one_file_needs_no_body() -> None:
    assert read(takes(RetryFileRequest, b"")) == {"reason": "manual_retry"}
    assert takes(RetryFileRequest, b"", {"transfer-encoding": "chunked"}).status_code == 411
    assert takes(RetryFileRequest, b"null").status_code == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
FIELDS = st.fixed_dictionaries(
    {}, optional={name: JSON for name in ("extractedEntityIds", "fileIds", "reason")}
)
BODIES = (
    st.binary(max_size=200)
    | (JSON | FIELDS).map(lambda value: json.dumps(value).encode())
    | (JSON | FIELDS).map(
        lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    )
)
MODELS = st.sampled_from([RestartRequest, RetryFileRequest, RetryBatchRequest])


@given(MODELS, BODIES, st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_no_body_ever_fails_inside_the_service(
    model: type[Body], body: bytes, encoding: str
) -> None:
    mark = "".encode(encoding)
    response = takes(model, mark + body)
    assert response.status_code in {200, 400}
    read(response)
