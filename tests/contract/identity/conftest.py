"""A running issuer with one client that tests can authenticate as."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
import pytest
import requests

from local.identity.clients import Client, clients_path, write_clients
from tests.contract.parts import running_part

CLIENT = Client("extractor-service", "s%cret: +1", ("REGISTRATION_READ",))
AUDIENCE = "api://registration"


@dataclass(frozen=True)
class RunningIssuer:
    """The issuer as the applications of the tenant `local` see it."""

    url: str
    data: Path

    @property
    def token_url(self) -> str:
        return f"{self.url}/local/oauth2/v2.0/token"

    def ask(self, *, auth: tuple[str, str] | None = None, **fields: str) -> requests.Response:
        """Ask for a token with a valid form in which `fields` replace, or leave out when empty."""
        form = {
            "grant_type": "client_credentials",
            "client_id": CLIENT.client_id,
            "client_secret": CLIENT.secret,
            "scope": f"{AUDIENCE}/.default",
            **fields,
        }
        filled = {name: value for name, value in form.items() if value}
        return requests.post(self.token_url, data=filled, auth=auth, timeout=10)

    def verify(self, token: str, audience: str = AUDIENCE) -> dict[str, Any]:
        """What a resource server does: key by its id from the published set, then every check."""
        keys = jwt.PyJWKClient(f"{self.url}/local/discovery/v2.0/keys")
        return jwt.decode(
            token,
            keys.get_signing_key_from_jwt(token),
            algorithms=["RS256"],
            audience=audience,
            issuer=f"{self.url}/local/v2.0",
            options={"require": ["exp", "nbf", "iat"]},
        )


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningIssuer]:
    data = tmp_path_factory.mktemp("issuer")
    write_clients(clients_path(data), [CLIENT])
    with running_part("local.identity", "--port", 0, "--data", data) as part:
        yield RunningIssuer(part.url, data)
