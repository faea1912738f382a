"""Asking the registration service which extractors a client application has."""

import json
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from http.cookiejar import DefaultCookiePolicy
from urllib.parse import quote

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from shared.contracts.registration import read_extractors
from shared.contracts.wire import ContractError
from shared.domain.errors import PermanentError, TransientError
from shared.domain.jobs import Extractor

PART = "registration"
CONNECT_SECONDS, READ_SECONDS = 3.0, 5.0
FIRST_PAUSE_SECONDS = 0.5
KEPT_CONNECTIONS = 32
"""Open ones that wait for the next question: as many threads of the triggers may ask at once."""
LONGEST_ANSWER = 1024 * 1024
"""Bytes of an answer that are read; a client has a handful of extractors."""


class _TryAgainError(Exception):
    """An attempt has failed in a way that may pass within seconds."""


class HttpRegistrationApi:
    """`GET {base_url}/registration/{clientAppId}/extractors` with a token of the service.

    Connection errors, 429 and 5xx are tried again, for about `patience` in all.
    """

    def __init__(
        self,
        base_url: str,
        token: Callable[[], str],
        patience: timedelta = timedelta(seconds=10),
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._token = token
        self._patience = patience.total_seconds()
        self._session = requests.Session()
        # Threads share the session, so it keeps nothing; and a .netrc must not replace the token.
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._session.trust_env = False
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=KEPT_CONNECTIONS))

    def extractors_of(self, client_application_id: str) -> Sequence[Extractor]:
        """The client's active extractors.

        Raises TransientError for every answer but an array of extractors, and PermanentError for
        an id that no path can carry.
        """
        client = _segment(client_application_id)
        body = self._get(f"{self._base_url}/registration/{client}/extractors")
        try:
            return read_extractors(json.loads(body))
        except (ValueError, RecursionError):
            raise TransientError(PART, "its answer is not JSON") from None
        except ContractError as error:
            raise TransientError(PART, f"its answer breaks the contract: {error}") from None

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _get(self, url: str) -> bytes:
        deadline = time.monotonic() + self._patience
        headers = {"Authorization": f"Bearer {self._token()}", "Accept": "application/json"}
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._attempt(url, headers, deadline)
            except _TryAgainError as failure:
                if time.monotonic() + pause >= deadline:
                    raise TransientError(PART, str(failure)) from None
            time.sleep(pause)
            pause *= 2

    def _attempt(self, url: str, headers: dict[str, str], deadline: float) -> bytes:
        left = max(deadline - time.monotonic(), 0.1)
        timeout = (min(CONNECT_SECONDS, left), min(READ_SECONDS, left))
        try:
            with self._session.get(
                url, headers=headers, timeout=timeout, allow_redirects=False, stream=True
            ) as answer:
                _check_status(answer.status_code)
                return _read_body(answer, deadline)
        except (requests.RequestException, HTTPError) as error:
            raise _TryAgainError(type(error).__name__) from None


def _segment(client_application_id: str) -> str:
    """One path segment; `.` and `..` would be taken for a place in the path, however encoded."""
    if client_application_id in {"", ".", ".."}:
        raise PermanentError(
            "client_application_id_invalid",
            "A client application's id must not be empty, a dot or two dots",
        )
    return quote(client_application_id, safe="")


def _check_status(status: int) -> None:
    if 200 <= status < 300:
        return
    if status == requests.codes.too_many_requests or status >= 500:
        raise _TryAgainError(f"answered {status}")
    raise TransientError(PART, f"answered {status}")


def _read_body(answer: requests.Response, deadline: float) -> bytes:
    body = bytearray()
    # One read of the socket at a time, so that a dribbling server meets the deadline.
    while chunk := answer.raw.read1(LONGEST_ANSWER, decode_content=True):
        body += chunk
        if len(body) > LONGEST_ANSWER:
            raise TransientError(PART, f"its answer is longer than {LONGEST_ANSWER} bytes")
        if time.monotonic() >= deadline:
            raise _TryAgainError("its answer did not end in time")
    return bytes(body)
