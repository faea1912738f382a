"""Tokens verified against keys that an issuer publishes over HTTP."""

import base64
import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from shared import auth
from shared.auth import Caller, TokenVerifier, UnauthorizedError
from shared.domain.errors import TransientError
from tests.contract.socket_server import silent, socket_server
from tests.contract.tokens import (
    AUDIENCE,
    EC_KEY,
    ISSUER,
    KEYS,
    OTHER_RSA_KEY,
    RSA_KEY,
    TENANT,
    V1_AUDIENCE,
    V1_ISSUER,
    claims,
    published,
    signed,
)
from tests.contract.waiting import wait_until
from tests.contract.web_server import Reply, WebServer, web_server


@pytest.fixture
def issuer() -> Iterator[WebServer]:
    with web_server(lambda _: Reply(body=KEYS)) as server:
        yield server


def verifier(issuer: WebServer, **options: Any) -> TokenVerifier:
    settings = {
        "accepted": [(ISSUER, AUDIENCE), (V1_ISSUER, V1_AUDIENCE)],
        "jwks_url": f"{issuer.url}/keys",
        "tenant": TENANT,
    }
    return TokenVerifier(**{**settings, **options})


def by_hand(header: dict[str, Any], signature: Callable[[bytes], bytes]) -> str:
    """A token that no honest library would make."""
    parts = b".".join(_base64(json.dumps(part).encode()) for part in (header, claims()))
    return (parts + b"." + _base64(signature(parts))).decode()


def is_unauthorized(verify: Callable[[str], Caller], token: str) -> bool:
    try:
        return not verify(token)
    except UnauthorizedError:
        return True


def is_outage(verify: Callable[[str], Caller], token: str) -> bool:
    try:
        return not verify(token)
    except TransientError:
        return True


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"), [(RSA_KEY, "RS256", "rsa"), (EC_KEY, "ES256", "ec")]
)
def test_a_token_signed_with_a_published_key_says_who_calls(
    issuer: WebServer, key: Any, algorithm: str, kid: str
) -> None:
    caller = verifier(issuer).verify(signed(key, algorithm, kid))
    assert caller == Caller(
        "status-service", "status-service-object", ("REGISTRATION_READ",), None, TENANT
    )


@pytest.mark.parametrize(
    ("changes", "client_id"),
    [
        ({"azp": None, "appid": "v1-client"}, "v1-client"),
        ({"azp": 5, "appid": "v1-client"}, "v1-client"),
        ({"azp": None}, "default"),
        ({"azp": ["status-service"]}, "default"),
        ({"azp": ""}, "default"),
        ({"azp": "x" * 65}, "default"),
        ({"azp": "a\nb"}, "default"),
        ({"azp": "تطبيق"}, "default"),
    ],
)
def test_the_application_is_named_by_either_version_of_the_claim(
    issuer: WebServer, changes: dict[str, Any], client_id: str
) -> None:
    assert verifier(issuer).verify(signed(**changes)).client_application_id == client_id


@pytest.mark.parametrize(
    ("claim", "roles"),
    [
        (["A", "B"], ("A", "B")),
        ("A", ("A",)),
        ("A B", ("A B",)),
        ([], ()),
        (["A", 5, None, ["B"]], ("A",)),
        ({}, ()),
        ({"A": "B"}, ()),
        (5, ()),
        (True, ()),
        (None, ()),
    ],
)
def test_roles_are_whole_values_and_odd_ones_are_none(
    issuer: WebServer, claim: Any, roles: tuple[str, ...]
) -> None:
    assert verifier(issuer).verify(signed(roles=claim)).roles == roles


def test_a_null_among_the_claims_is_no_role(issuer: WebServer) -> None:
    token = jwt.encode({**claims(), "roles": None}, RSA_KEY, "RS256", headers={"kid": "rsa"})
    assert verifier(issuer).verify(token).roles == ()


@pytest.mark.parametrize(
    ("claim", "scopes"),
    [
        ("A", ("A",)),
        ("A B", ("A", "B")),
        (["A", "B C"], ("A", "B C")),
        (["A", 5, None], ("A",)),
        ("", ("",)),
        ([], ()),
        (5, ()),
        (True, ()),
        ({"A": "B"}, ()),
    ],
)
def test_scopes_are_whole_values_and_odd_ones_are_none(
    issuer: WebServer, claim: Any, scopes: tuple[str, ...]
) -> None:
    assert verifier(issuer).verify(signed(scp=claim)).scopes == scopes


def test_a_token_without_scopes_is_an_applications_own(issuer: WebServer) -> None:
    assert verifier(issuer).verify(signed()).scopes is None


def test_a_null_scope_claim_is_a_user_without_scopes(issuer: WebServer) -> None:
    token = jwt.encode({**claims(), "scp": None}, RSA_KEY, "RS256", headers={"kid": "rsa"})
    assert verifier(issuer).verify(token).scopes == ()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"email": "a@example.com", "preferred_username": "b@example.com"}, "a@example.com"),
        ({"preferred_username": "b@example.com"}, "b@example.com"),
        ({}, "status-service-object"),
        ({"sub": None}, "unknown"),
        ({"email": " ä@example.com "}, "ä@example.com"),
        ({"email": ["a@example.com"], "preferred_username": {"a": 1}, "sub": "s"}, "s"),
        ({"email": "", "preferred_username": "  "}, "status-service-object"),
        ({"email": "a" * 320}, "a" * 320),
        ({"email": "a" * 321}, "status-service-object"),
        ({"email": "😀" * 161}, "status-service-object"),
        ({"email": "a@example.com\r\nX: y"}, "status-service-object"),
        ({"email": "a\x00", "sub": "a\u202eb"}, "unknown"),
        ({"email": "\ud800"}, "status-service-object"),
    ],
)
def test_who_asks_is_the_first_claim_that_can_be_a_name(
    issuer: WebServer, changes: dict[str, Any], name: str
) -> None:
    assert verifier(issuer).verify(signed(**changes)).initiated_by == name


LONG_AGO, FAR_AWAY = 946_684_800, 4_102_444_800


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": LONG_AGO},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": FAR_AWAY},
        {"iss": None},
        {"iss": "https"},
        {"iss": ISSUER[:-1]},
        {"iss": ISSUER + "/"},
        {"iss": ISSUER.upper()},
        {"iss": [ISSUER]},
        {"iss": ""},
        {"aud": None},
        {"aud": "api://other"},
        {"aud": AUDIENCE[:-1]},
        {"aud": []},
        {"aud": ""},
        {"aud": {"a": 1}},
        {"tid": "tenant-2"},
        {"tid": None},
        {"tid": [TENANT]},
    ],
)
def test_a_token_that_is_not_for_us_from_them_at_this_time_is_unauthorized(
    issuer: WebServer, changes: dict[str, Any]
) -> None:
    with pytest.raises(UnauthorizedError) as caught:
        verifier(issuer).verify(signed(**changes))
    assert str(caught.value) == "A valid bearer token is required"
    assert caught.value.reason


@pytest.mark.parametrize(("claim", "seconds"), [("exp", -30), ("nbf", 30)])
def test_clocks_may_differ_by_the_leeway(issuer: WebServer, claim: str, seconds: int) -> None:
    changes: dict[str, Any] = {claim: int(time.time()) + seconds}
    assert verifier(issuer).verify(signed(**changes))


@pytest.mark.parametrize(
    ("iss", "aud", "accepted"),
    [
        (ISSUER, AUDIENCE, True),
        (V1_ISSUER, V1_AUDIENCE, True),
        (V1_ISSUER, ["other", V1_AUDIENCE], True),
        (ISSUER, V1_AUDIENCE, False),
        (V1_ISSUER, AUDIENCE, False),
        (V1_ISSUER, [AUDIENCE, "other"], False),
    ],
)
def test_exactly_the_configured_pairs_of_issuer_and_audience_pass(
    issuer: WebServer, iss: str, aud: Any, accepted: bool
) -> None:
    assert is_unauthorized(verifier(issuer).verify, signed(iss=iss, aud=aud)) is not accepted


def test_without_a_tenant_setting_any_tenant_passes(issuer: WebServer) -> None:
    assert verifier(issuer, tenant=None).verify(signed(tid="tenant-2"))


PUBLIC_PEM = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
GOOD = signed()

FORGED = {
    "not a token": "abc",
    "empty parts": "..",
    "three letters": "a.b.c",
    "four parts": f"{GOOD}.x",
    "no signature": GOOD.rpartition(".")[0] + ".",
    "changed payload": GOOD.replace(GOOD.split(".")[1], _base64(b'{"roles":["X"]}').decode()),
    "header that is a list": f"{_base64(b'[]').decode()}.e30.e30",
    "payload that is a list": jwt.PyJWS().encode(b"[]", RSA_KEY, "RS256", {"kid": "rsa"}),
    "unsigned": by_hand({"alg": "none", "kid": "rsa"}, lambda _: b""),
    "HS256 with the public key": by_hand(
        {"alg": "HS256", "kid": "rsa"},
        lambda parts: hmac.new(PUBLIC_PEM, parts, hashlib.sha256).digest(),
    ),
    "HS256 as the platform makes for itself": jwt.encode(
        claims(iss="https://app.scm.azurewebsites.net"), "k" * 32, "HS256", {"kid": "rsa"}
    ),
    "RS512": signed(algorithm="RS512"),
    "algorithm in lower case": by_hand({"alg": "rs256", "kid": "rsa"}, lambda _: b"x"),
    "algorithm that is a list": by_hand({"alg": ["RS256"], "kid": "rsa"}, lambda _: b"x"),
    "no key id": signed(kid=None),
    "key id that is a number": by_hand({"alg": "RS256", "kid": 5}, lambda _: b"x"),
    "unknown key id": signed(kid="invented"),
    "another key under a known id": signed(OTHER_RSA_KEY),
    "elliptic curve under an RSA id": signed(EC_KEY, "ES256", "rsa"),
    "RSA under an elliptic curve id": signed(kid="ec"),
}


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_a_forged_or_broken_token_is_unauthorized(issuer: WebServer, token: str) -> None:
    with pytest.raises(UnauthorizedError):
        verifier(issuer).verify(token)


@pytest.mark.parametrize("name", ["not a token", "unsigned", "HS256 with the public key"])
def test_nonsense_never_reaches_the_key_server(issuer: WebServer, name: str) -> None:
    with pytest.raises(UnauthorizedError):
        verifier(issuer).verify(FORGED[name])
    assert issuer.requests == []


def test_keys_are_fetched_once_for_many_tokens(issuer: WebServer) -> None:
    verify = verifier(issuer).verify
    for _ in range(5):
        verify(signed())
    assert len(issuer.requests) == 1


def test_a_rotated_key_is_found_by_fetching_again(issuer: WebServer) -> None:
    verify = verifier(issuer, key_fetch_pause=timedelta(0)).verify
    verify(signed())
    issuer.answer = lambda _: Reply(body=published(next=OTHER_RSA_KEY))
    assert verify(signed(OTHER_RSA_KEY, kid="next"))


def test_invented_key_ids_cause_one_fetch_at_most(issuer: WebServer) -> None:
    verify = verifier(issuer).verify
    verify(signed())
    for number in range(10):
        with pytest.raises(UnauthorizedError):
            verify(signed(kid=f"invented-{number}"))
    assert len(issuer.requests) == 1


def test_a_withdrawn_key_is_refused_once_its_life_in_the_cache_is_over(issuer: WebServer) -> None:
    verify = verifier(issuer, key_life=timedelta(seconds=0.2)).verify
    verify(signed())
    issuer.answer = lambda _: Reply(body=published(next=OTHER_RSA_KEY))
    wait_until(lambda: is_unauthorized(verify, signed()))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(503),
        Reply(404),
        Reply(302, headers={"Location": "/other"}),
        Reply(200, b"<html>"),
        Reply(200, b"[]"),
        Reply(200, b'{"keys": []}'),
        Reply(200, b'{"keys": [{"kty": "unknown"}]}'),
    ],
)
def test_a_key_server_without_keys_is_an_outage_and_not_a_bad_token(
    issuer: WebServer, reply: Reply
) -> None:
    issuer.answer = lambda _: reply
    with pytest.raises(TransientError, match="key server"):
        verifier(issuer).verify(signed())


def test_a_key_server_that_refuses_connections_is_an_outage() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    unreachable = WebServer(port, lambda _: Reply(), [])
    with pytest.raises(TransientError, match="key server"):
        verifier(unreachable).verify(signed())


def test_a_key_server_that_never_answers_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "KEY_FETCH_TIMEOUT", timedelta(seconds=0.2))
    with socket_server(silent) as server, pytest.raises(TransientError, match="key server"):
        verifier(WebServer(server.port, lambda _: Reply(), [])).verify(signed())


def test_an_outage_is_not_asked_about_again_at_once_and_ends(issuer: WebServer) -> None:
    verify = verifier(issuer, key_fetch_pause=timedelta(seconds=0.3)).verify
    issuer.answer = lambda _: Reply(503)
    for _ in range(5):
        with pytest.raises(TransientError):
            verify(signed())
    assert len(issuer.requests) == 1
    issuer.answer = lambda _: Reply(body=KEYS)
    wait_until(lambda: not is_outage(verify, signed()))
    assert verify(signed())


def test_known_keys_go_on_working_while_the_key_server_is_down(issuer: WebServer) -> None:
    verify = verifier(issuer).verify
    verify(signed())
    issuer.answer = lambda _: Reply(503)
    assert verify(signed())
