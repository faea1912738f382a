"""Tokens for applications: the client credentials grant of RFC 6749 as Entra ID offers it."""

import pytest
import requests

from local.identity.clients import Client, clients_path, write_clients
from tests.contract.identity.conftest import AUDIENCE, CLIENT, RunningIssuer


def test_a_client_gets_a_token_that_verifies_against_the_published_keys(issuer: RunningIssuer):
    answer = issuer.ask()

    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.json()
    assert (body["token_type"], body["expires_in"]) == ("Bearer", 3600)
    claims = issuer.verify(body["access_token"])
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["nbf"] == claims["iat"]
    assert claims["azp"] == CLIENT.client_id
    assert claims["roles"] == ["REGISTRATION_READ"]
    assert claims["sub"] == claims["oid"]
    assert (claims["tid"], claims["ver"]) == ("local", "2.0")
    assert "scp" not in claims


def test_a_client_may_authenticate_with_a_basic_header(issuer: RunningIssuer):
    # RFC 6749, section 2.3.1: id and secret are form-encoded before they are joined.
    encoded = (CLIENT.client_id, "s%25cret%3A+%2B1")

    answer = issuer.ask(auth=encoded, client_id="", client_secret="")

    assert issuer.verify(answer.json()["access_token"])["azp"] == CLIENT.client_id


def test_a_client_added_while_the_issuer_runs_gets_its_token(issuer: RunningIssuer):
    assert issuer.ask(client_id="second", client_secret="x").status_code == 401

    write_clients(clients_path(issuer.data), [CLIENT, Client("second", "x")])

    claims = issuer.verify(issuer.ask(client_id="second", client_secret="x").json()["access_token"])
    assert "roles" not in claims


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_secret": ""}, 401, "invalid_client"),
        ({"client_id": "unknown"}, 401, "invalid_client"),
        ({"client_id": ""}, 400, "invalid_request"),
        ({"grant_type": ""}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"scope": ""}, 400, "invalid_request"),
        ({"scope": AUDIENCE}, 400, "invalid_scope"),
        ({"scope": "/.default"}, 400, "invalid_scope"),
        ({"scope": f"{AUDIENCE}/.default other/.default"}, 400, "invalid_scope"),
    ],
)
def test_a_wrong_request_is_refused_with_the_code_of_rfc_6749(
    issuer: RunningIssuer, fields: dict[str, str], status: int, error: str
):
    answer = issuer.ask(**fields)

    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.json()["error_description"]
    assert ("WWW-Authenticate" in answer.headers) == (status == 401)
    assert CLIENT.secret not in answer.text


@pytest.mark.parametrize(
    ("body", "headers", "status", "error"),
    [
        ("scope=a&scope=b", {}, 400, "invalid_request"),
        ("grant_type=client_credentials", {"Authorization": "Bearer x"}, 401, "invalid_client"),
        ("{}", {"Content-Type": "application/json"}, 400, "invalid_request"),
        (
            "grant_type=client_credentials&client_secret=x",
            {"Authorization": "Basic eDp4"},
            400,
            "invalid_request",
        ),
    ],
)
def test_a_malformed_request_is_refused_with_the_code_of_rfc_6749(
    issuer: RunningIssuer, body: str, headers: dict[str, str], status: int, error: str
):
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    answer = requests.post(issuer.token_url, data=body, headers=form | headers, timeout=10)

    assert (answer.status_code, answer.json()["error"]) == (status, error)
