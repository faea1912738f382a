"""The HTTP edge on a real socket, with tokens of the real issuer."""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import pytest
import requests

from local.identity.claims import Issuer, user_claims
from local.identity.keys import sign
from local.supervisor.environment import AUDIENCE, host_url, identity_url
from tests.integration.whole_stack import WholeStack

RESTART = "/v1/extracted_entities/restart"
WRITE = "EXTRACTED_ENTITIES_WRITE"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNKNOWN = json.dumps({"extractedEntityIds": [987654321]}).encode()


def token(stack: WholeStack, scopes: Sequence[str] = (WRITE,), roles: Sequence[str] = ()) -> str:
    """A person's token from the stack's own issuer."""
    settings = stack.stack.settings
    claims = user_claims(
        Issuer(identity_url(settings)),
        audience=AUDIENCE,
        client_id="web-console",
        email="operator@example.com",
        scopes=scopes,
        roles=roles or ["User"],
    )
    return sign(settings.data, claims)


def post(
    stack: WholeStack,
    body: bytes | Iterator[bytes],
    path: str = RESTART,
    bearer: str | None = None,
    **headers: str,
) -> requests.Response:
    return requests.post(
        host_url(stack.stack.settings) + path,
        data=body,
        headers={"Authorization": f"Bearer {bearer or token(stack)}", **headers},
        timeout=10,
    )


def error(response: requests.Response) -> tuple[int, Any]:
    assert response.headers["Content-Type"] == "application/json"
    document = response.json()
    assert document["error"] == response.reason
    return response.status_code, document["message"]


@pytest.mark.parametrize(
    ("body", "headers", "status", "message"),
    [
        (b"null", {}, 400, "The body must be a JSON object"),
        (UNKNOWN[:-1], {}, 400, "The body is not JSON in UTF-8"),
        (UNKNOWN.decode().encode("utf-16"), {}, 400, "The body is not JSON in UTF-8"),
        (b"", {}, 400, "The body is empty; a JSON object is expected"),
        (UNKNOWN, {"Content-Type": "text/plain"}, 415, "The Content-Type must be application/json"),
        (UNKNOWN + b" " * 65536, {}, 413, "The body must not be larger than 64 KB"),
    ],
)
def test_a_request_of_another_form_is_refused_and_told_why(
    stack: WholeStack, body: bytes, headers: dict[str, str], status: int, message: str
) -> None:
    assert error(post(stack, body, **headers)) == (status, message)


def test_a_body_sent_in_chunks_is_refused_and_told_so(stack: WholeStack) -> None:
    assert error(post(stack, iter([UNKNOWN[:9], UNKNOWN[9:]]))) == (
        411,
        "Send the body with a Content-Length header, not in chunks",
    )


@pytest.mark.parametrize("body", [UNKNOWN, b"\xef\xbb\xbf" + UNKNOWN])
def test_a_good_body_reaches_the_use_case_with_and_without_a_mark(
    stack: WholeStack, body: bytes
) -> None:
    response = post(stack, body)
    assert error(response) == (404, "No valid entities to restart")
    assert response.json()["errors"] == [
        {"extractedEntityId": 987654321, "error": "Extracted entity with ID 987654321 not found"}
    ]


def test_a_token_of_the_issuer_is_judged_by_its_scope_and_role(stack: WholeStack) -> None:
    reader = token(stack, ["EXTRACTED_ENTITIES_READ"])
    guest = token(stack, roles=["Guest"])
    assert error(post(stack, UNKNOWN, bearer=reader)) == (403, f"The token lacks the scope {WRITE}")
    assert error(post(stack, UNKNOWN, bearer=guest)) == (
        403,
        "The token lacks the role Administrator or User",
    )


def test_a_changed_token_is_answered_with_a_challenge(stack: WholeStack) -> None:
    head, payload, signature = token(stack).split(".")
    response = post(stack, UNKNOWN, bearer=f"{head}.{payload}x.{signature}")
    assert error(response) == (401, "A valid bearer token is required")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_the_request_id_comes_back_and_is_in_the_log_with_the_trace(stack: WholeStack) -> None:
    response = post(stack, UNKNOWN, **{"x-request-id": "console-42", "traceparent": TRACE})
    assert response.headers["x-request-id"] == "console-42"
    stack.wait_for_log("host", f'"requestId": "console-42", "traceId": "{TRACE.split("-")[1]}"')


def test_a_request_without_an_id_gets_one(stack: WholeStack) -> None:
    assert UUID(post(stack, b"").headers["x-request-id"])


@pytest.mark.parametrize("path", ["/v1/retry/batch", "/v1/retry/BATCH"])
def test_the_batch_always_reaches_its_own_handler(stack: WholeStack, path: str) -> None:
    assert error(post(stack, b"{}", path)) == (
        400,
        "fileIds is required and must contain at least one ID",
    )


def test_the_description_is_served_to_anyone(stack: WholeStack) -> None:
    address = host_url(stack.stack.settings)
    document = requests.get(f"{address}/openapi.json", timeout=10)
    page = requests.get(f"{address}/docs", timeout=10)
    assert RESTART in document.json()["paths"]
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "SwaggerUIBundle" in page.text
