"""The client credentials grant of RFC 6749, section 4.4: from a form to who asks, and for what."""

import hmac
from collections.abc import Mapping
from urllib.parse import unquote_plus

from aiohttp import BasicAuth
from multidict import MultiMapping

from local.identity.clients import Client

_SCOPE_SUFFIX = "/.default"


class GrantError(Exception):
    """A request that gets no token: `error` is a code of RFC 6749, section 5.2."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status


def read_grant(
    form: MultiMapping[str], authorization: str | None, clients: Mapping[str, Client]
) -> tuple[Client, str]:
    """The client and the audience it asks a token for. Raises GrantError."""
    for name in form:
        if len(form.getall(name)) > 1:
            raise GrantError("invalid_request", f"{name} is given more than once")
    grant_type = _required(form, "grant_type")
    if grant_type != "client_credentials":
        raise GrantError("unsupported_grant_type", f"the grant type {grant_type} is not offered")
    client = _authenticate(*_credentials(form, authorization), clients)
    return client, _audience(_required(form, "scope"))


def _required(form: MultiMapping[str], name: str) -> str:
    if value := form.get(name, ""):
        return value
    raise GrantError("invalid_request", f"{name} is missing")


def _credentials(form: MultiMapping[str], authorization: str | None) -> tuple[str, str]:
    if authorization is None:
        return _required(form, "client_id"), form.get("client_secret", "")
    if "client_secret" in form:
        raise GrantError("invalid_request", "use one way of client authentication, not two")
    try:
        basic = BasicAuth.decode(authorization)
    except ValueError:
        raise GrantError("invalid_client", "the Authorization header is not Basic", 401) from None
    return unquote_plus(basic.login), unquote_plus(basic.password)


def _authenticate(client_id: str, secret: str, clients: Mapping[str, Client]) -> Client:
    client = clients.get(client_id)
    if client is None or not hmac.compare_digest(secret.encode(), client.secret.encode()):
        raise GrantError("invalid_client", "unknown client, or wrong secret", 401)
    return client


def _audience(scope: str) -> str:
    audience = scope.removesuffix(_SCOPE_SUFFIX)
    if not audience or audience == scope or " " in scope:
        raise GrantError("invalid_scope", f"scope must be one <audience>{_SCOPE_SUFFIX}")
    return audience
