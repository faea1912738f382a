"""Who calls: bearer tokens checked against the issuer's published keys, and what they may do."""

import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
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
    """What a verified token says of who calls.

    `client_application_id` is the application, `initiated_by` the person or application that the
    audit trail names, `scopes` None for the token of an application acting for itself.
    """

    client_application_id: str = "default"
    initiated_by: str = "unknown"
    roles: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    tenant: str | None = None


class Access(Enum):
    """What an endpoint asks of its callers."""

    READ = "read"
    WRITE = "write"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True)
class Rule:
    """Any one of `scopes` and any one of `user_roles`; or, without scopes, of `own_roles`."""

    scopes: tuple[str, ...]
    user_roles: tuple[str, ...]
    own_roles: tuple[str, ...]


READ, WRITE = "EXTRACTED_ENTITIES_READ", "EXTRACTED_ENTITIES_WRITE"
ADMINISTRATOR, USER = "Administrator", "User"

RULES = {
    Access.READ: Rule((READ, WRITE), (ADMINISTRATOR, USER), (READ, WRITE)),
    Access.WRITE: Rule((WRITE,), (ADMINISTRATOR, USER), (WRITE,)),
    Access.ADMINISTRATOR: Rule((WRITE,), (ADMINISTRATOR,), (ADMINISTRATOR,)),
}


def bearer_token(authorization: str | None) -> str:
    """The token of an Authorization header. Raises UnauthorizedError."""
    match = _BEARER.fullmatch(authorization or "")
    if match is None:
        raise UnauthorizedError("no Authorization header with one bearer token")
    return match[1]


def require(caller: Caller, access: Access) -> None:
    """Raise ForbiddenError, naming what is missing, unless the caller's token allows this."""
    rule = RULES[access]
    if caller.scopes is None:
        missing = _missing("role", rule.own_roles, caller.roles)
    else:
        missing = [
            *_missing("scope", rule.scopes, caller.scopes),
            *_missing("role", rule.user_roles, caller.roles),
        ]
    if missing:
        raise ForbiddenError(f"The token lacks {' and '.join(missing)}")


def require_service(caller: Caller, role: str) -> None:
    """Raise ForbiddenError unless this is an application's own token with exactly this role."""
    if caller.scopes is not None:
        raise ForbiddenError("Users are not served here, only applications with their own token")
    if role not in caller.roles:
        raise ForbiddenError(f"The token lacks the role {role}")


class TokenVerifier:
    """Verifies RS256 and ES256 tokens whose issuer and audience are one of the pairs `accepted`.

    The issuers' keys come from `jwks_url`, fetched on first use. With a `tenant` given, no other
    tenant's tokens pass. Raises ValueError for blank values, since a check against nothing lets
    everything pass.
    """

    def __init__(
        self,
        accepted: Collection[tuple[str, str]],
        jwks_url: str,
        tenant: str | None = None,
        leeway: timedelta = timedelta(seconds=60),
        key_life: timedelta = KEY_LIFE,
        key_fetch_pause: timedelta = KEY_FETCH_PAUSE,
    ) -> None:
        _check_given("issuer", [issuer for issuer, _ in accepted])
        _check_given("audience", [audience for _, audience in accepted])
        _check_given("tenant", ["any" if tenant is None else tenant])
        self._accepted = frozenset(accepted)
        self._tenant = tenant
        self._leeway = leeway
        self._keys = _PublishedKeys(jwks_url, key_life, key_fetch_pause)

    def verify(self, token: str) -> Caller:
        """Who sent a token. Raises UnauthorizedError, and TransientError without the keys."""
        try:
            claims = self._claims(token)
        except jwt.PyJWTError as error:
            raise UnauthorizedError(str(error)) from None
        if not any((claims["iss"], audience) in self._accepted for audience in _audiences(claims)):
            raise UnauthorizedError("the token is for an audience of another issuer")
        if self._tenant is not None and claims.get("tid") != self._tenant:
            raise UnauthorizedError("the token is of another tenant")
        return _caller(claims)

    def _claims(self, token: str) -> dict[str, Any]:
        return jwt.decode(
            token,
            self._keys.get_signing_key(_key_id(token)),
            algorithms=ALGORITHMS,
            issuer={issuer for issuer, _ in self._accepted},
            audience={audience for _, audience in self._accepted},
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


def _caller(claims: Mapping[str, Any]) -> Caller:
    return Caller(
        client_application_id=_application(claims),
        initiated_by=_first_name(claims, ("email", "preferred_username", "sub"), 320) or "unknown",
        roles=_values(claims.get("roles")),
        scopes=_scopes(claims["scp"]) if "scp" in claims else None,
        tenant=_first_name(claims, ("tid",), 64),
    )


def _application(claims: Mapping[str, Any]) -> str:
    """The application's id; what is not ASCII is none, and no column or message could hold it."""
    name = _first_name(claims, ("azp", "appid"), 64)
    return name if name and name.isascii() else "default"


def _first_name(claims: Mapping[str, Any], names: tuple[str, ...], longest: int) -> str | None:
    """The first claim that can be a name of up to `longest` UTF-16 units, as columns count them.

    Longer ones and control characters would end in logs and messages that have no room for them.
    """
    texts = (claims[name].strip() for name in names if isinstance(claims.get(name), str))
    printable = (text for text in texts if text and text.isprintable())
    return next((text for text in printable if len(text.encode("utf-16-le")) <= 2 * longest), None)


def _values(claim: object) -> tuple[str, ...]:
    """Whole values only: text is one value, and what is neither text nor a list is none."""
    values = claim if isinstance(claim, list) else [claim]
    return tuple(value for value in values if isinstance(value, str))


def _scopes(claim: object) -> tuple[str, ...]:
    """Entra ID writes scopes into one text, with blanks between them (RFC 8693, section 4.2)."""
    return tuple(claim.split(" ")) if isinstance(claim, str) else _values(claim)


def _audiences(claims: Mapping[str, Any]) -> list[str]:
    audience = claims["aud"]
    return [audience] if isinstance(audience, str) else audience


def _missing(kind: str, any_of: tuple[str, ...], given: tuple[str, ...]) -> list[str]:
    return [] if set(any_of) & set(given) else [f"the {kind} {' or '.join(any_of)}"]


def _check_given(name: str, values: Collection[str]) -> None:
    if not values or not all(value.strip() for value in values):
        raise ValueError(f"The accepted {name} must not be blank")
