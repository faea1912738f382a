"""The issuer's signing keys, kept as files: the newest signs, every one that is there is published.

`python -m local.identity.keys --data DIR list | rotate | withdraw KEY_ID`
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

ALGORITHM = "RS256"
_KEY_BITS = 2048
_KEY_FILE = re.compile(r"key-(\d{4,})\.pem")


@dataclass(frozen=True)
class SigningKey:
    """A private key, the id that tokens name it by, and its place in the order of making."""

    key_id: str
    private: RSAPrivateKey
    path: Path

    def as_jwk(self) -> dict[str, str]:
        """The public half as an entry of a JSON Web Key Set (RFC 7517)."""
        jwk = _public_jwk(self.private)
        return {**jwk, "kid": self.key_id, "use": "sig", "alg": ALGORITHM}


def identity_folder(data: Path) -> Path:
    """Where the issuer keeps its files; made at first use, for its owner only."""
    folder = data / "identity"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def published_keys(data: Path) -> list[SigningKey]:
    """Every key that tokens may be checked with, oldest first; the first is made here."""
    if not (paths := _key_files(data)):
        # Another process may be starting beside this one: whoever wrote first has made the key.
        with contextlib.suppress(FileExistsError):
            _make_key(_key_path(data, 1))
        paths = _key_files(data)
    return [_load(path, path.stat().st_mtime_ns) for path in paths]


def rotate(data: Path) -> str:
    """Add a key, which signs from then on, and return its id; the old ones stay published."""
    newest = published_keys(data)[-1]
    path = _key_path(data, _number(newest.path) + 1)
    _make_key(path)
    return _load(path, path.stat().st_mtime_ns).key_id


def withdraw(data: Path, key_id: str) -> None:
    """Stop publishing a key: tokens signed with it are refused once verifiers look again.

    Raises ValueError for an unknown key id, and for the key that signs.
    """
    keys = published_keys(data)
    if key_id == keys[-1].key_id:
        raise ValueError(f"key {key_id} is the one that signs: rotate first, then withdraw it")
    withdrawn = [key for key in keys if key.key_id == key_id]
    if not withdrawn:
        raise ValueError(f"no published key has the id {key_id}")
    withdrawn[0].path.unlink()


def sign(data: Path, claims: Mapping[str, Any]) -> str:
    """A token of exactly these claims, signed with the newest key of the data folder."""
    key = published_keys(data)[-1]
    return jwt.encode(dict(claims), key.private, ALGORITHM, headers={"kid": key.key_id})


def _key_path(data: Path, number: int) -> Path:
    return identity_folder(data) / f"key-{number:04}.pem"


def _number(path: Path) -> int:
    match = _KEY_FILE.fullmatch(path.name)
    return int(match[1]) if match else 0


def _key_files(data: Path) -> list[Path]:
    return sorted(filter(_number, identity_folder(data).iterdir()), key=_number)


def _make_key(path: Path) -> None:
    private = generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    # A link appears with its whole content and never replaces a file: no reader sees half a key.
    with tempfile.NamedTemporaryFile(dir=path.parent) as draft:  # made with mode 0600
        draft.write(pem)
        draft.flush()
        os.link(draft.name, path)


@lru_cache
def _load(path: Path, modified: int) -> SigningKey:
    """Read a key file; with its time of change, so that another file of the name is read."""
    private = serialization.load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(private, RSAPrivateKey):
        raise ValueError(f"{path} does not hold an RSA key")
    return SigningKey(_thumbprint(private), private, path)


def _public_jwk(private: RSAPrivateKey) -> dict[str, str]:
    jwk = jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    return {name: jwk[name] for name in ("e", "kty", "n")}


def _thumbprint(private: RSAPrivateKey) -> str:
    """The digest of RFC 7638, in hex: base64 may begin with a dash, as options of commands do."""
    canonical = json.dumps(_public_jwk(private), separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    """List, add or withdraw keys; a running issuer publishes the change with its next answer."""
    parser = argparse.ArgumentParser(prog="python -m local.identity.keys")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="ids of the published keys, the one that signs last")
    actions.add_parser("rotate", help="add a key that signs from then on, and print its id")
    actions.add_parser("withdraw", help="stop publishing a key").add_argument("key_id")
    options = parser.parse_args(arguments)
    try:
        lines = _act(options)
    except ValueError as error:
        parser.error(str(error))
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _act(options: argparse.Namespace) -> list[str]:
    if options.action == "rotate":
        return [rotate(options.data)]
    if options.action == "withdraw":
        withdraw(options.data, options.key_id)
    return [key.key_id for key in published_keys(options.data)]


if __name__ == "__main__":
    main()
