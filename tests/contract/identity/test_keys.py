"""The issuer's keys: published for verifiers, rotated while it runs, private on the disk."""

import stat

import jwt
import pytest
import requests

from local.identity.keys import published_keys, rotate, sign, withdraw
from tests.contract.identity.conftest import RunningIssuer


def published_ids(issuer: RunningIssuer) -> list[str]:
    answer = requests.get(f"{issuer.url}/local/discovery/v2.0/keys", timeout=10)
    return [key["kid"] for key in answer.json()["keys"]]


def test_metadata_leads_to_the_keys_and_the_token_endpoint(issuer: RunningIssuer):
    address = f"{issuer.url}/local/v2.0/.well-known/openid-configuration"

    metadata = requests.get(address, timeout=10).json()

    assert metadata["issuer"] == f"{issuer.url}/local/v2.0"
    assert metadata["token_endpoint"] == issuer.token_url
    for key in requests.get(metadata["jwks_uri"], timeout=10).json()["keys"]:
        assert set(key) == {"kty", "n", "e", "kid", "use", "alg"}


def test_another_tenant_has_an_issuer_of_its_own(issuer: RunningIssuer):
    address = f"{issuer.url}/elsewhere/v2.0/.well-known/openid-configuration"

    metadata = requests.get(address, timeout=10).json()

    assert metadata["issuer"] == f"{issuer.url}/elsewhere/v2.0"


def test_the_key_can_be_read_by_its_owner_only(issuer: RunningIssuer):
    modes = {stat.S_IMODE(key.path.stat().st_mode) for key in published_keys(issuer.data)}

    assert modes == {0o600}


def test_after_a_rotation_the_new_key_signs_and_the_old_one_still_verifies(issuer: RunningIssuer):
    before = issuer.ask().json()["access_token"]

    key_id = rotate(issuer.data)

    after = issuer.ask().json()["access_token"]
    assert jwt.get_unverified_header(after)["kid"] == key_id
    assert published_ids(issuer)[-2:] == [jwt.get_unverified_header(before)["kid"], key_id]
    assert issuer.verify(before)
    assert issuer.verify(after)


def test_a_token_of_a_withdrawn_key_is_refused(issuer: RunningIssuer):
    token = issuer.ask().json()["access_token"]
    old = jwt.get_unverified_header(token)["kid"]
    new = rotate(issuer.data)

    withdraw(issuer.data, old)

    assert old not in published_ids(issuer)
    assert new in published_ids(issuer)
    with pytest.raises(jwt.PyJWKClientError):
        issuer.verify(token)


def test_the_key_that_signs_cannot_be_withdrawn(issuer: RunningIssuer):
    *_, key = published_keys(issuer.data)

    with pytest.raises(ValueError, match="rotate first"):
        withdraw(issuer.data, key.key_id)


def test_a_signature_holds_for_exactly_the_claims_given(issuer: RunningIssuer):
    claims = {"iss": "someone else", "aud": "x"}

    token = sign(issuer.data, claims)

    assert jwt.decode(token, options={"verify_signature": False}) == claims
    with pytest.raises(jwt.InvalidTokenError):
        issuer.verify(token)
