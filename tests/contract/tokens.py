"""An issuer's keys, and tokens signed with them: good ones, and ones that are a little wrong."""

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

ISSUER = "https://issuer.example/tenant-1/v2.0"
AUDIENCE = "0a1b2c3d-0000-4000-8000-000000000001"
V1_ISSUER = "https://sts.example/tenant-1/"
V1_AUDIENCE = "api://extractor-service"
TENANT = "tenant-1"
RSA_KEY = rsa.generate_private_key(65537, 2048)
OTHER_RSA_KEY = rsa.generate_private_key(65537, 2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def published(**keys: Any) -> bytes:
    """A key set of the public halves, by key id."""
    return json.dumps({"keys": [_jwk(kid, key) for kid, key in keys.items()]}).encode()


def _jwk(kid: str, key: Any) -> dict[str, Any]:
    is_rsa = isinstance(key, rsa.RSAPrivateKey)
    algorithm = jwt.algorithms.RSAAlgorithm if is_rsa else jwt.algorithms.ECAlgorithm
    return {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}


KEYS = published(rsa=RSA_KEY, ec=EC_KEY)


def claims(**changes: Any) -> dict[str, Any]:
    """Valid claims with `changes`; None leaves a claim out."""
    now = int(time.time())
    valid = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "tid": TENANT,
        "nbf": now,
        "exp": now + 3600,
        "azp": "status-service",
        "sub": "status-service-object",
        "roles": ["REGISTRATION_READ"],
    }
    return {name: value for name, value in {**valid, **changes}.items() if value is not None}


def signed(key: Any = RSA_KEY, algorithm: str = "RS256", kid: Any = "rsa", **changes: Any) -> str:
    headers = {"kid": kid} if kid is not None else {}
    return jwt.PyJWS().encode(json.dumps(claims(**changes)).encode(), key, algorithm, headers)
