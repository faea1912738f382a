"""What an endpoint answers to a token: the whole way from the header to the status."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import azure.functions as func
import jwt
import pytest

from shared import wiring
from shared.functions.registration import get_extractors
from shared.functions.requests import list_requests
from shared.functions.restart import restart_extraction
from shared.services.retry_requests import RetryRequests
from shared.settings import read_settings
from tests.contract.tokens import (
    AUDIENCE,
    ISSUER,
    KEYS,
    OTHER_RSA_KEY,
    RSA_KEY,
    TENANT,
    V1_AUDIENCE,
    V1_ISSUER,
    claims,
    signed,
)
from tests.contract.web_server import Reply, WebServer, web_server
from tests.database import empty_database

EXAMPLE = Path(__file__).parents[2] / "local.settings.json.example"
R, W = "EXTRACTED_ENTITIES_READ", "EXTRACTED_ENTITIES_WRITE"


@pytest.fixture
def issuer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """The issuer of the tokens that the app, wired from settings, accepts."""
    requests = RetryRequests(empty_database(tmp_path))
    with web_server(lambda _: Reply(body=KEYS)) as server:
        given = json.loads(EXAMPLE.read_text())["Values"] | {
            "AUTH_ISSUERS": f"{ISSUER},{V1_ISSUER}",
            "AUTH_AUDIENCES": f"{AUDIENCE},{V1_AUDIENCE}",
            "AUTH_JWKS_URL": f"{server.url}/keys",
            "AUTH_TENANT": TENANT,
        }
        app = replace(
            wiring.build(read_settings(given)),
            retry_requests=requests,
            active_extractors=lambda client: [],
        )
        monkeypatch.setattr(wiring, "_app", lambda: app)
        yield server


def answered(function: Any, authorization: str | None, body: bytes = b"") -> func.HttpResponse:
    headers = {} if authorization is None else {"authorization": authorization}
    request = func.HttpRequest(
        "GET", "/", headers=headers, route_params={"clientAppId": "client-a"}, body=body
    )
    response: func.HttpResponse = function._function.get_user_function()(request)
    return response


def bearer(**changes: Any) -> str:
    return f"Bearer {signed(**changes)}"


def null(claim: str) -> str:
    token = jwt.encode({**claims(), claim: None}, RSA_KEY, "RS256", headers={"kid": "rsa"})
    return f"Bearer {token}"


PAST = int(time.time()) - 3600

UNAUTHORIZED = {
    "missing": None,
    "empty": "",
    "scheme only": "Bearer",
    "nonsense": "Bearer abc",
    "three letters": "Bearer a.b.c",
    "basic": "Basic dXNlcjpzZWNyZXQ=",
    "no key id": bearer(kid=None, roles=[R]),
    "unknown key id": bearer(kid="invented", roles=[R]),
    "another key": bearer(key=OTHER_RSA_KEY, roles=[R]),
    "expired": bearer(exp=PAST, roles=[R]),
    "not yet valid": bearer(nbf=PAST + 7200, roles=[R]),
    "another issuer": bearer(iss="https", roles=[R]),
    "another audience": bearer(aud="api://other", roles=[R]),
    "the other pair's audience": bearer(aud=V1_AUDIENCE, roles=[R]),
    "another tenant": bearer(tid="tenant-2", roles=[R]),
    "unsigned": f"Bearer {jwt.encode(claims(roles=[R]), '', 'none', {'kid': 'rsa'})}",
}


@pytest.mark.parametrize("authorization", UNAUTHORIZED.values(), ids=UNAUTHORIZED)
def test_a_token_that_proves_nothing_is_401_with_a_challenge_and_a_general_reason(
    issuer: WebServer, authorization: str | None
) -> None:
    response = answered(list_requests, authorization)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert json.loads(response.get_body()) == {
        "error": "Unauthorized",
        "message": "A valid bearer token is required",
    }


FORBIDDEN = {
    "neither": bearer(roles=None),
    "another role": bearer(roles=["REGISTRATION_READ"]),
    "role that starts like it": bearer(roles=f"{R}.All"),
    "role that it starts like": bearer(roles="EXTRACTED_ENTITIES"),
    "null roles": null("roles"),
    "roles that are an object": bearer(roles={R: True}),
    "roles that are a number": bearer(roles=5),
    "user with the role only": bearer(scp="openid", roles=["User"]),
    "user with the scope only": bearer(scp=R, roles=None),
    "user with the application's role": bearer(scp="", roles=[R, W]),
    "user with a scope that starts like it": bearer(scp=f"{R}X", roles=["User"]),
    "user with a null scope": null("scp"),
    "user with a scope that is a number": bearer(scp=5, roles=["User"]),
}


@pytest.mark.parametrize("authorization", FORBIDDEN.values(), ids=FORBIDDEN)
def test_a_token_that_does_not_allow_it_is_403_and_says_what_is_missing(
    issuer: WebServer, authorization: str
) -> None:
    response = answered(list_requests, authorization)
    assert response.status_code == 403
    assert json.loads(response.get_body())["message"].startswith("The token lacks the ")


ALLOWED = {
    "application": bearer(roles=R),
    "application that may write": bearer(roles=["OTHER", W]),
    "user": bearer(scp=f"openid {R}", roles=["User"]),
    "administrator": bearer(scp=[W], roles="Administrator"),
    "version 1": bearer(iss=V1_ISSUER, aud=V1_AUDIENCE, azp=None, appid="a", roles=[R]),
}


@pytest.mark.parametrize("authorization", ALLOWED.values(), ids=ALLOWED)
def test_a_token_that_allows_it_is_served(issuer: WebServer, authorization: str) -> None:
    response = answered(list_requests, authorization)
    assert (response.status_code, response.get_body()) == (200, b'{"requests": []}')


def test_reading_does_not_allow_writing(issuer: WebServer) -> None:
    response = answered(restart_extraction, bearer(roles=[R]))
    assert response.status_code == 403
    assert json.loads(response.get_body())["message"] == f"The token lacks the role {W}"


def test_who_may_not_write_learns_nothing_of_the_bodys_faults(issuer: WebServer) -> None:
    assert answered(restart_extraction, None, b"nonsense").status_code == 401
    assert answered(restart_extraction, bearer(roles=[W]), b"nonsense").status_code == 400


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (bearer(roles=["REGISTRATION_READ"]), 200),
        (bearer(roles=[R, W, "Administrator"]), 403),
        (bearer(scp="", roles=["REGISTRATION_READ"]), 403),
        (bearer(scp="REGISTRATION_READ", roles=["REGISTRATION_READ", "Administrator"]), 403),
        (null("scp"), 403),
        (None, 401),
    ],
)
def test_registration_serves_applications_only(
    issuer: WebServer, authorization: str | None, status: int
) -> None:
    assert answered(get_extractors, authorization).status_code == status


def test_without_the_issuers_keys_it_is_503_and_never_a_bad_token(issuer: WebServer) -> None:
    issuer.answer = lambda _: Reply(500)
    response = answered(list_requests, bearer(roles=[R]))
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert json.loads(response.get_body()) == {
        "error": "Service Unavailable",
        "message": "The key server is out of reach; try again later",
    }


def test_the_log_says_which_check_failed_and_shows_no_token(
    issuer: WebServer, caplog: pytest.LogCaptureFixture
) -> None:
    token = UNAUTHORIZED["expired"] or ""
    answered(list_requests, token)
    assert "Signature has expired" in caplog.text
    assert not [part for part in token.removeprefix("Bearer ").split(".") if part in caplog.text]
