"""Tokens of the app's identity."""

from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import CredentialUnavailableError

from shared.adapters.service_tokens import IdentityTokens
from shared.domain.errors import TransientError

SCOPE = "api://registration/.default"


class FakeCredential:
    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        if self.failure:
            raise self.failure
        return AccessToken(f"token for {' '.join(scopes)}", 0)


def test_the_credential_s_token_for_the_scope_is_handed_on() -> None:
    assert IdentityTokens(FakeCredential(), SCOPE)() == f"token for {SCOPE}"


@pytest.mark.parametrize(
    "failure",
    [CredentialUnavailableError("no managed identity"), ClientAuthenticationError("refused")],
)
def test_a_credential_that_fails_is_transient(failure: Exception) -> None:
    with pytest.raises(TransientError, match="token endpoint"):
        IdentityTokens(FakeCredential(failure), SCOPE)()
