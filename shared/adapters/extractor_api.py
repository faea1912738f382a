"""Calling extractors, under the rules for addresses that others register."""

import http.client
import json
import socket
import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cached_property
from uuid import UUID

from shared.adapters.outgoing_addresses import RefusedAddressError, Target, parse_target, refusal
from shared.adapters.pinned_connection import Deadline, PinnedConnection
from shared.adapters.retry_after import read_retry_after
from shared.domain.extractor_calls import Answer, Callback, Reading, read_status

USER_AGENT = "extractor-service"
LONGEST_TEXT = 64 * 1024
"""Bytes of an extractor's answer that are read; a longer answer is not kept."""

Resolve = Callable[[str, int], Sequence[str]]
"""The IP addresses of a host name and port. Raises OSError."""

_FAILURES: tuple[tuple[type[Exception], str], ...] = (
    (TimeoutError, "The extractor did not answer in time"),
    (socket.gaierror, "The extractor's host name could not be resolved"),
    (ssl.SSLCertVerificationError, "The extractor's certificate was not accepted"),
    (ssl.SSLError, "No TLS connection to the extractor could be made"),
    (ConnectionRefusedError, "The extractor refused the connection"),
    (ConnectionError, "The extractor closed the connection without an answer"),
    (OSError, "The extractor could not be reached"),
    (http.client.HTTPException, "The extractor's answer is not HTTP"),
)
"""What is said of a call that failed, by the first kind that fits."""


def resolve(host: str, port: int) -> list[str]:
    """All addresses of a name, in the system's order of preference. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class HttpsExtractorApi:
    """Posts jobs to extractors over https, at addresses that are public.

    `allow_private` lifts both, for local use. `timeout` bounds a whole call: name, connection,
    TLS and answer; `connect_timeout` each address of a host.
    """

    def __init__(
        self,
        allow_private: bool = False,
        timeout: timedelta = timedelta(seconds=30),
        connect_timeout: timedelta = timedelta(seconds=5),
        resolve: Resolve = resolve,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._allow_private = allow_private
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._resolve = resolve
        self._given_tls = tls
        self._clock = clock
        # A look-up knows no time-out, so it gets a thread that a call need not wait for.
        self._resolvers = ThreadPoolExecutor(max_workers=8, thread_name_prefix="resolve")

    @property
    def longest_call(self) -> timedelta:
        return self._timeout

    def call(
        self,
        url: str,
        file_url: str,
        job_id: UUID,
        trace_parent: str,
        callback: Callback | None = None,
    ) -> Answer:
        """Post a job. Every outcome is an Answer whose text for people holds no URL."""
        body = json.dumps({"fileUrl": file_url, "jobId": str(job_id)})
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": str(job_id),
            "traceparent": trace_parent,
            "User-Agent": USER_AGENT,
            "Connection": "close",
        }
        if callback:
            headers["X-Extractor-Callback-Url"] = callback.url
            headers["X-Extractor-Callback-Token"] = callback.token
        try:
            return self._post(parse_target(url, self._allow_private), body, headers)
        except RefusedAddressError as error:
            return Answer(Reading.REFUSED, f"The extractor was not called: {error}")
        except (OSError, http.client.HTTPException) as error:
            return Answer(Reading.PASSING, _failure(error))

    def _post(self, target: Target, body: str, headers: dict[str, str]) -> Answer:
        deadline = Deadline(self._timeout.total_seconds())
        connection = PinnedConnection(
            target,
            self._addresses(target, deadline),
            self._tls if target.scheme == "https" else None,
            deadline,
            self._connect_timeout.total_seconds(),
        )
        with closing(connection):
            connection.request("POST", target.path, body, headers)
            with connection.getresponse() as response:
                return self._read(response)

    def _addresses(self, target: Target, deadline: Deadline) -> Sequence[str]:
        looking = self._resolvers.submit(self._resolve, target.host, target.port)
        addresses = looking.result(deadline.remaining())
        if not addresses:
            raise socket.gaierror("no address")
        kinds = [] if self._allow_private else list(filter(None, map(refusal, addresses)))
        if kinds:
            raise RefusedAddressError(f"its host has a {kinds[0]} address; only public are called")
        return addresses

    def _read(self, response: http.client.HTTPResponse) -> Answer:
        reading = read_status(response.status)
        if reading is Reading.TAKEN:
            return Answer(reading, _json_text(response), response.status)
        retry_after = read_retry_after(response.getheader("Retry-After"), self._clock())
        return Answer(reading, _refusal_text(response.status), response.status, retry_after)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._given_tls or ssl.create_default_context()


def _json_text(response: http.client.HTTPResponse) -> str | None:
    """The answer's body when it is JSON of a bounded size; the status has decided already."""
    try:
        body = response.read(LONGEST_TEXT + 1)
        text = body.decode("utf-8-sig")
        json.loads(text)
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    return text if len(body) <= LONGEST_TEXT else None


def _refusal_text(status: int) -> str:
    text = f"The extractor answered {status} {http.client.responses.get(status, '')}".rstrip()
    return f"{text}; redirects are not followed" if 300 <= status < 400 else text


def _failure(error: Exception) -> str:
    words = next(words for kind, words in _FAILURES if isinstance(error, kind))
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{words}: {error.verify_message}"
    return words
