"""Keys that sign links with the app's identity instead of an account key."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError, HttpResponseError
from azure.storage.blob import BlobServiceClient, LinearRetry, UserDelegationKey

from shared.domain.errors import TransientError

PART = "blob storage"
KEY_LIFE = timedelta(days=6)
"""Of a key, from when it is asked for. Azure allows 7 days, the back-dated start included."""


def blob_service_client(account_url: str, credential: TokenCredential) -> BlobServiceClient:
    """A client that opens nothing yet and gives up after about ten seconds."""
    return BlobServiceClient(
        account_url,
        credential,
        retry_policy=LinearRetry(backoff=1, retry_total=1, random_jitter_range=0),
        connection_timeout=2,
        read_timeout=4,
    )


class DelegationKeys:
    """User delegation keys, kept until one would end before the link that it is wanted for.

    Threads may renew at the same time; each signs with a key that is right for its link.
    """

    def __init__(self, client: BlobServiceClient, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._clock = clock
        self._key: UserDelegationKey | None = None

    def __call__(self, start: datetime, expiry: datetime) -> dict[str, Any]:
        """The signing argument for a link of that life (UTC), at most KEY_LIFE from now.

        Raises TransientError, also when storage refuses: the identity then lacks a role that
        operators must give it, and nothing is wrong with the file.
        """
        key = self._key
        if key is None or not _covers(key, start, expiry):
            key = self._key = self._renew(start)
        return {"user_delegation_key": key}

    def _renew(self, start: datetime) -> UserDelegationKey:
        try:
            return self._client.get_user_delegation_key(start, self._clock() + KEY_LIFE)
        except AzureError as error:
            raise TransientError(PART, f"no delegation key: {_reason(error)}") from error


def _covers(key: UserDelegationKey, start: datetime, expiry: datetime) -> bool:
    begins, ends = _moment(key.signed_start), _moment(key.signed_expiry)
    return begins <= start and expiry <= ends


def _moment(text: str | None) -> datetime:
    return datetime.fromisoformat(text or "").astimezone(UTC)


def _reason(error: AzureError) -> str:
    if isinstance(error, HttpResponseError) and error.status_code == 403:
        return "answered 403; the identity may lack the role Storage Blob Delegator"
    if isinstance(error, HttpResponseError) and error.status_code:
        return f"answered {error.status_code}"
    return type(error).__name__
