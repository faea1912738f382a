"""What the issuer's tokens say: claims as in Entra ID's version 2.0 access tokens."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

DEFAULT_TENANT = "local"
LIFETIME_SECONDS = 3600


@dataclass(frozen=True)
class Issuer:
    """One tenant of the issuer that is reached at `url`."""

    url: str
    tenant: str = DEFAULT_TENANT

    @property
    def name(self) -> str:
        """The `iss` claim of its tokens."""
        return f"{self.url}/{self.tenant}/v2.0"


def application_claims(
    issuer: Issuer,
    *,
    audience: str,
    client_id: str,
    roles: Sequence[str] = (),
    seconds: int = LIFETIME_SECONDS,
) -> dict[str, Any]:
    """Claims of an application acting for itself, valid from this moment for `seconds`."""
    issued = int(time.time())
    object_id = _object_id(client_id)
    claims = {
        "iss": issuer.name,
        "aud": audience,
        "iat": issued,
        "nbf": issued,
        "exp": issued + seconds,
        "tid": issuer.tenant,
        "azp": client_id,
        "oid": object_id,
        "sub": object_id,
        "ver": "2.0",
    }
    # As Entra ID does: who has no role gets no empty claim.
    return claims | ({"roles": list(roles)} if roles else {})


def user_claims(
    issuer: Issuer,
    *,
    audience: str,
    client_id: str,
    email: str,
    scopes: Sequence[str],
    roles: Sequence[str] = (),
    seconds: int = LIFETIME_SECONDS,
) -> dict[str, Any]:
    """Claims of a person who signed in to the application `client_id`, valid for `seconds`."""
    claims = application_claims(
        issuer, audience=audience, client_id=client_id, roles=roles, seconds=seconds
    )
    person = {
        "oid": _object_id(email),
        "sub": _object_id(email),
        "name": email.partition("@")[0],
        "preferred_username": email,
        "email": email,
        "scp": " ".join(scopes),
    }
    return claims | person


def _object_id(name: str) -> str:
    """The same name has the same id in every run, as in a directory."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
