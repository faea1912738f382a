"""Who calls: bearer tokens checked against the issuer's published keys, and what they may do."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jwt

from shared.domain.errors import TransientError

ALGORITHMS = ("RS256", "ES256")
KEY_LIFE = timedelta(minutes=5)
"""How long fetched keys are trusted: a withdrawn key is refused after that at the latest."""

KEY_FETCH_PAUSE = timedelta(seconds=10)
"""The least time between two fetches, so that tokens with invented key ids cost nothing."""

KEY_FETCH_TIMEOUT = timedelta(seconds=5)

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/=-]+) *", re.IGNORECASE)


class UnauthorizedError(Exception):
    """No valid token. The text is for the caller, `reason` for the log only."""

    def __init__(self, reason: str) -> None:
        super().__init__("A valid bearer token is required")
        self.reason = reason


class ForbiddenError(Exception):
    """A valid token that does not allow this. The text names what is missing."""


@dataclass(frozen=True)
class Caller:
    """What a verified token says: the application (`azp` or `appid`) and its roles."""

    client_id: str | None
    roles: tuple[str, ...]


def bearer_token(authorization: str | None) -> str:
    """The token of an Authorization header. Raises UnauthorizedError."""
    match = _BEARER.fullmatch(authorization or "")
    if match is None:
        raise UnauthorizedError("no Authorization header with one bearer token")
    return match[1]


def require_role(caller: Caller, role: str) -> None:
    """Raise ForbiddenError unless the caller has exactly this role."""
    if role not in caller.roles:
        raise ForbiddenError(f"The role {role} is required")


class TokenVerifier:
    """Verifies RS256 and ES256 tokens of `issuers` for `audiences`; keys come from `jwks_url`.

    With a `tenant` given, no other tenant's tokens pass. Keys are fetched on first use. Raises
    ValueError for blank values, since a check against nothing lets everything pass.
    """

    def __init__(
        self,
        issuers: frozenset[str],
        audiences: frozenset[str],
        jwks_url: str,
        tenant: str | None = None,
        leeway: timedelta = timedelta(seconds=60),
        key_life: timedelta = KEY_LIFE,
        key_fetch_pause: timedelta = KEY_FETCH_PAUSE,
    ) -> None:
        _check_given("issuer", issuers)
        _check_given("audience", audiences)
        _check_given("tenant", frozenset({tenant} if tenant is not None else {"any"}))
        self._issuers = issuers
        self._audiences = audiences
        self._tenant = tenant
        self._leeway = leeway
        self._keys = _PublishedKeys(jwks_url, key_life, key_fetch_pause)

    def verify(self, token: str) -> Caller:
        """Who sent a token. Raises UnauthorizedError, and TransientError without the keys."""
        try:
            claims = self._claims(token)
        except jwt.PyJWTError as error:
            raise UnauthorizedError(str(error)) from None
        if self._tenant is not None and claims.get("tid") != self._tenant:
            raise UnauthorizedError("the token is of another tenant")
        return Caller(_client_id(claims), _roles(claims.get("roles")))

    def _claims(self, token: str) -> dict[str, Any]:
        return jwt.decode(
            token,
            self._keys.get_signing_key(_key_id(token)),
            algorithms=ALGORITHMS,
            audience=self._audiences,
            issuer=self._issuers,
            leeway=self._leeway,
            options={"require": ["exp", "iss", "aud"]},
        )


class _PublishedKeys(jwt.PyJWKClient):
    """The issuer's keys. A failed fetch is a TransientError, and is not repeated at once."""

    def __init__(self, url: str, life: timedelta, fetch_pause: timedelta) -> None:
        super().__init__(
            url,
            lifespan=life.total_seconds(),
            timeout=KEY_FETCH_TIMEOUT.total_seconds(),
            cooldown_duration=fetch_pause.total_seconds(),
        )
        self._failed_at: float | None = None

    def fetch_data(self) -> Any:
        failed_at = self._failed_at
        if failed_at is not None and time.monotonic() - failed_at < self.cooldown_duration:
            raise TransientError("key server", "the issuer's keys could not be read just before")
        try:
            keys = super().fetch_data()
        except (jwt.PyJWTError, OSError, ValueError) as error:
            self._failed_at = time.monotonic()
            raise TransientError("key server", "the issuer's keys cannot be read") from error
        self._failed_at = None
        return keys


def _key_id(token: str) -> str:
    """The key that a token names. Checked first, so that nonsense never causes a fetch."""
    header = jwt.get_unverified_header(token)
    if header.get("alg") not in ALGORITHMS:
        raise jwt.InvalidAlgorithmError("the algorithm is none of ours")
    key_id = header.get("kid")
    if not isinstance(key_id, str) or not key_id:
        raise jwt.InvalidTokenError("the token names no key")
    return key_id


def _client_id(claims: Mapping[str, Any]) -> str | None:
    named = (claims.get("azp"), claims.get("appid"))
    return next((value for value in named if isinstance(value, str) and value), None)


def _roles(claim: object) -> tuple[str, ...]:
    """Whole values only: text is one role, and what is neither text nor a list is none."""
    values = claim if isinstance(claim, list) else [claim]
    return tuple(value for value in values if isinstance(value, str))


def _check_given(name: str, values: frozenset[str]) -> None:
    if not values or not all(value.strip() for value in values):
        raise ValueError(f"The accepted {name} must not be blank")
