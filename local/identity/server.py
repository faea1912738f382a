"""The issuer's three endpoints: its metadata, its public keys, and tokens for applications."""

import logging
from pathlib import Path
from urllib.parse import parse_qsl

from aiohttp import web
from multidict import MultiDict

from local.identity.claims import LIFETIME_SECONDS, Issuer, application_claims
from local.identity.clients import clients_path, read_clients
from local.identity.grant import GrantError, read_grant
from local.identity.keys import ALGORITHM, identity_folder, published_keys, sign

logger = logging.getLogger(__name__)

_DATA: web.AppKey[Path] = web.AppKey("data", Path)
_URL: web.AppKey[str] = web.AppKey("url", str)
_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


def create_app(url: str, data: Path) -> web.Application:
    """The issuer reached at `url`. Keys and clients are read from `data` with every request."""
    published_keys(data)
    url_path(data).write_text(url)
    app = web.Application()
    app[_DATA], app[_URL] = data, url
    app.add_routes(
        [
            web.get("/{tenant}/v2.0/.well-known/openid-configuration", _metadata),
            web.get("/{tenant}/discovery/v2.0/keys", _keys),
            web.post("/{tenant}/oauth2/v2.0/token", _token),
        ]
    )
    return app


def url_path(data: Path) -> Path:
    """The file that tells where the issuer of a data folder was last reached."""
    return identity_folder(data) / "url"


def _issuer(request: web.Request) -> Issuer:
    """Any tenant is answered for: as in Entra ID they share the keys, and `iss` tells which."""
    return Issuer(request.app[_URL], request.match_info["tenant"])


async def _metadata(request: web.Request) -> web.Response:
    issuer = _issuer(request)
    tenant_url = f"{issuer.url}/{issuer.tenant}"
    return web.json_response(
        {
            "issuer": issuer.name,
            "jwks_uri": f"{tenant_url}/discovery/v2.0/keys",
            "token_endpoint": f"{tenant_url}/oauth2/v2.0/token",
            "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "response_types_supported": ["token"],
            "subject_types_supported": ["pairwise"],
        }
    )


async def _keys(request: web.Request) -> web.Response:
    return web.json_response({"keys": [key.as_jwk() for key in published_keys(request.app[_DATA])]})


async def _token(request: web.Request) -> web.Response:
    data = request.app[_DATA]
    try:
        if request.content_type != "application/x-www-form-urlencoded":
            raise GrantError("invalid_request", "the body must be a urlencoded form")
        body = (await request.read()).decode(errors="replace")
        form = MultiDict(parse_qsl(body, keep_blank_values=True))
        client, audience = read_grant(
            form, request.headers.get("Authorization"), read_clients(clients_path(data))
        )
    except GrantError as refusal:
        logger.info("token refused: %s (%s)", refusal.error, refusal.description)
        return _refused(refusal)
    claims = application_claims(
        _issuer(request), audience=audience, client_id=client.client_id, roles=client.roles
    )
    logger.info("token issued: client %s, audience %s", client.client_id, audience)
    answer = {"token_type": "Bearer", "expires_in": LIFETIME_SECONDS}
    return web.json_response(answer | {"access_token": sign(data, claims)}, headers=_NO_STORE)


def _refused(refusal: GrantError) -> web.Response:
    challenge = {"WWW-Authenticate": 'Basic realm="token"'} if refusal.status == 401 else {}
    body = {"error": refusal.error, "error_description": refusal.description}
    return web.json_response(body, status=refusal.status, headers=_NO_STORE | challenge)
