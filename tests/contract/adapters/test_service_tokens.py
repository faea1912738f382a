"""Client credentials against a real token endpoint."""

import json
import socket
from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest

from shared.adapters.service_tokens import ClientCredentialsTokens
from shared.domain.errors import TransientError
from tests.contract.web_server import Reply, WebServer, web_server

SECRET = "s%cret: +1&="


def token(text: object = "a.b.c", expires_in: object = 3600) -> Reply:
    document = {"token_type": "Bearer", "access_token": text, "expires_in": expires_in}
    return Reply(200, json.dumps(document).encode())


@pytest.fixture
def endpoint() -> Iterator[WebServer]:
    with web_server(lambda _: token()) as server:
        yield server


@pytest.fixture
def tokens(endpoint: WebServer) -> ClientCredentialsTokens:
    return at(endpoint.url)


def at(url: str) -> ClientCredentialsTokens:
    return ClientCredentialsTokens(
        f"{url}/token", "extractor-service", SECRET, "api://registration/.default"
    )


def test_a_token_is_asked_for_with_the_client_s_credentials(
    endpoint: WebServer, tokens: ClientCredentialsTokens
) -> None:
    assert tokens() == "a.b.c"
    [request] = endpoint.requests
    assert request.path == "/token"
    assert parse_qs(request.body.decode()) == {
        "grant_type": ["client_credentials"],
        "client_id": ["extractor-service"],
        "client_secret": [SECRET],
        "scope": ["api://registration/.default"],
    }


def test_a_token_is_used_again_while_it_lives(
    endpoint: WebServer, tokens: ClientCredentialsTokens
) -> None:
    assert {tokens() for _ in range(5)} == {"a.b.c"}
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("expires_in", [59, 0, None, "30", {}, "soon"])
def test_a_token_that_is_about_to_end_or_may_is_replaced(
    endpoint: WebServer, tokens: ClientCredentialsTokens, expires_in: object
) -> None:
    endpoint.answer = lambda _: token("first", expires_in)
    assert tokens() == "first"
    endpoint.answer = lambda _: token("second", expires_in)
    assert tokens() == "second"


def test_nothing_is_asked_before_the_first_use(
    endpoint: WebServer, tokens: ClientCredentialsTokens
) -> None:
    assert endpoint.requests == []


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(400, b'{"error": "invalid_client"}'), "answered 400"),
        (Reply(401), "answered 401"),
        (Reply(503), "answered 503"),
        (Reply(302, headers={"Location": "/other"}), "answered 302"),
        (Reply(200, b"<html>"), "holds no token"),
        (Reply(200, b"[]"), "holds no token"),
        (Reply(200, b"{}"), "holds no token"),
        (token(""), "holds no token"),
        (token(5), "holds no token"),
    ],
)
def test_no_token_is_transient_and_tells_no_secret(
    endpoint: WebServer, tokens: ClientCredentialsTokens, reply: Reply, problem: str
) -> None:
    endpoint.answer = lambda _: reply
    with pytest.raises(TransientError, match=f"token endpoint: .*{problem}") as caught:
        tokens()
    assert "s%cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_endpoint_out_of_reach_is_transient_and_the_next_call_asks_again(
    endpoint: WebServer,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ended:
        port = ended.getsockname()[1]
    tokens = at(f"http://127.0.0.1:{port}")
    for _ in range(2):
        with pytest.raises(TransientError, match="token endpoint: ConnectionError"):
            tokens()
