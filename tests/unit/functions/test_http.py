"""The HTTP edge: every error becomes one form of answer, and nothing internal leaves in it."""

import json
import logging
from typing import Any
from uuid import UUID

import azure.functions as func
import pytest

from shared.auth import ForbiddenError, UnauthorizedError
from shared.contracts.http import InvalidRequestError
from shared.contracts.http_answers import ErrorAnswer, RetryFileAnswer
from shared.contracts.wire import ContractError
from shared.domain.errors import ConflictingStateError, NotFoundError, TransientError
from shared.functions.http import answer, current_exchange, endpoint
from shared.telemetry import log_event

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "SELECT [secret] FROM /home/site; AccountKey=k3y=="


def request(headers: dict[str, str] | None = None) -> func.HttpRequest:
    return func.HttpRequest("POST", "/", headers=headers or {}, body=b"")


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
