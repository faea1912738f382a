"""Signing links to stored files."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from azure.storage.blob import BlobSasPermissions, generate_blob_sas

from shared.adapters.delegation_keys import KEY_LIFE

CLOCK_SKEW = timedelta(minutes=15)
"""How far a link's start is back-dated, for storage whose clock is behind ours."""

SigningKey = Callable[[datetime, datetime], dict[str, Any]]
"""The argument of `generate_blob_sas` that signs a link from a start to an expiry."""

_CONTAINER = re.compile(r"(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def account_key(key: str) -> SigningKey:
    """Signs with an account key, as Azurite has one."""
    return lambda start, expiry: {"account_key": key}


class SignedBlobLinks:
    """Links that let their holder read one blob for `lifetime`, at most KEY_LIFE.

    `account_url` is `https://NAME.blob.core.windows.net`, or `http://HOST:PORT/NAME` locally.
    """

    def __init__(
        self,
        account_url: str,
        signing_key: SigningKey,
        lifetime: timedelta,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if not timedelta(0) < lifetime <= KEY_LIFE:
            raise ValueError(f"A signed link may live {KEY_LIFE.days} days at most")
        parts = urlsplit(account_url)
        self._account_url = account_url.rstrip("/")
        self._account = parts.path.strip("/") or (parts.hostname or "").partition(".")[0]
        # A link to an https account is of no use over http, so it must not work there either.
        self._protocol = "https" if parts.scheme == "https" else None
        self._signing_key = signing_key
        self._lifetime = lifetime
        self._clock = clock

    def sign(self, container: str, name: str) -> str:
        """A read-only link to one blob; its path decodes to exactly the name.

        Raises ValueError naming the broken rule of a container's or blob's name, and
        TransientError when no key is to be had.
        """
        _check_container(container)
        _check_name(name)
        now = self._clock()
        start, expiry = now - CLOCK_SKEW, now + self._lifetime
        signature = generate_blob_sas(
            self._account,
            container,
            name,
            permission=BlobSasPermissions(read=True),
            start=start,
            expiry=expiry,
            protocol=self._protocol,
            **self._signing_key(start, expiry),
        )
        return f"{self._account_url}/{container}/{quote(name)}?{signature}"


def _check_container(container: str) -> None:
    if not _CONTAINER.fullmatch(container):
        raise ValueError(
            "A container's name has 3 to 63 lower-case letters, digits and single hyphens,"
            " with no hyphen at either end"
        )


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= 1024:
        raise ValueError("A blob's name has 1 to 1,024 characters")
    if name.startswith("/"):
        raise ValueError("A blob's name must not begin with a slash")
    if "\\" in name:
        raise ValueError("A blob's name must not hold a backslash: many take it for a slash")
    if {".", ".."} & set(name.split("/")):
        raise ValueError("A blob's name must not have . or .. as a segment")
    if _CONTROL.search(name) or not _is_text(name):
        raise ValueError("A blob's name must not hold control characters or broken Unicode")


def _is_text(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)
