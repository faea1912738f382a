"""Bearer tokens with which the service calls other services."""

import time
from dataclasses import dataclass

import requests
from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError

from shared.domain.errors import TransientError

PART = "token endpoint"
CONNECT_SECONDS, READ_SECONDS = 3.0, 5.0
RENEW_SECONDS = 60.0
"""How long before its end a token is no longer handed out."""


class IdentityTokens:
    """Tokens of the app's identity in Azure, kept and renewed by the credential itself."""

    def __init__(self, credential: TokenCredential, scope: str) -> None:
        self._credential = credential
        self._scope = scope

    def __call__(self) -> str:
        """A token for the scope. Raises TransientError."""
        try:
            return self._credential.get_token(self._scope).token
        except AzureError as error:
            raise TransientError(PART, type(error).__name__) from error


@dataclass(frozen=True)
class _Token:
    text: str
    usable_until: float


class ClientCredentialsTokens:
    """Tokens by OAuth 2 client credentials (RFC 6749, 4.4), kept until shortly before their end.

    Threads may ask at the same time; each gets a good token.
    """

    def __init__(self, token_url: str, client_id: str, client_secret: str, scope: str) -> None:
        self._token_url = token_url
        self._form = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": client_secret,
            "scope": scope,
        }
        self._token: _Token | None = None

    def __call__(self) -> str:
        """A token for the scope. Raises TransientError without the secret in it."""
        token = self._token
        if token is None or time.monotonic() >= token.usable_until:
            token = self._token = self._ask()
        return token.text

    def _ask(self) -> _Token:
        asked = time.monotonic()
        try:
            with requests.Session() as session:
                session.trust_env = False  # a .netrc must not add other credentials
                answer = session.post(
                    self._token_url,
                    data=self._form,
                    timeout=(CONNECT_SECONDS, READ_SECONDS),
                    allow_redirects=False,
                )
        except requests.RequestException as error:
            raise TransientError(PART, type(error).__name__) from None
        if answer.status_code != requests.codes.ok:
            raise TransientError(PART, f"answered {answer.status_code}")
        return _read(answer, asked)


def _read(answer: requests.Response, asked: float) -> _Token:
    try:
        document = answer.json()
    except ValueError:
        document = None
    text = document.get("access_token") if isinstance(document, dict) else None
    if not isinstance(text, str) or not text:
        raise TransientError(PART, "its answer holds no token")
    return _Token(text, asked + _seconds(document.get("expires_in")) - RENEW_SECONDS)


def _seconds(expires_in: object) -> float:
    """The life of a token; one whose life is not told is not kept."""
    try:
        return float(int(str(expires_in)))
    except ValueError:
        return 0.0
