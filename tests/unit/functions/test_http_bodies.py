"""Bodies at the HTTP edge: which are taken, and what is said of the others."""

import json
from typing import Any

import azure.functions as func
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.http import Body, RestartRequest, RetryBatchRequest, RetryFileRequest
from shared.functions.http import answer, endpoint, read_body

GOOD = b'{"extractedEntityIds": [3, 1, 3]}'


def restart(body: bytes, **headers: str) -> func.HttpResponse:
    """What an endpoint that takes a RestartRequest answers."""
    return takes(RestartRequest, body, {name.replace("_", "-"): headers[name] for name in headers})


def takes(
    model: type[Body], body: bytes, headers: dict[str, str] | None = None
) -> func.HttpResponse:
    return endpoint(lambda req: answer(read_body(req, model).model_dump()))(
        func.HttpRequest("POST", "/", headers=headers or {}, body=body)
    )


def read(response: func.HttpResponse) -> Any:
    return json.loads(response.get_body())


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
