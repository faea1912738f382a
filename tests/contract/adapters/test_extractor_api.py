"""Calls of extractors over real sockets."""

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from shared.adapters.extractor_api import LONGEST_TEXT, HttpsExtractorApi
from shared.domain.extractor_calls import Answer, Callback, Reading
from tests.contract.certificates import SelfSigned, self_signed
from tests.contract.socket_server import (
    Behaviour,
    closing,
    dribbling,
    saying,
    silent,
    socket_server,
)
from tests.contract.web_server import Reply, WebServer, web_server

JOB_ID = UUID("6f1f9d0a-6a0c-4a6e-9d4e-1d7a51c2c0aa")
TRACE_PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
FILE_URL = "https://files.blob.core.windows.net/docs/a%20b.pdf?sv=1&sig=a%2Bb%2F%3D"
NOON = datetime(2024, 1, 1, 12, 0, tzinfo=UTC)
HOST = "extractor.test"


class FakeResolver:
    """Answers with the same addresses each time, and counts the look-ups."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.addresses


@pytest.fixture
def extractor() -> Iterator[WebServer]:
    with web_server(lambda _: Reply(202, b"{}")) as server:
        yield server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> SelfSigned:
    return self_signed(tmp_path_factory.mktemp("tls"), [HOST])


def local(seconds: float = 5, **options: Any) -> HttpsExtractorApi:
    settings = {
        "allow_private": True,
        "timeout": timedelta(seconds=seconds),
        "clock": lambda: NOON,
    }
    return HttpsExtractorApi(**{**settings, **options})


def call(api: HttpsExtractorApi, url: str) -> Answer:
    return api.call(url, FILE_URL, JOB_ID, TRACE_PARENT)


# What is sent


def test_the_body_has_exactly_the_file_url_and_the_job_id(extractor: WebServer) -> None:
    call(local(), f"{extractor.url}/run")
    [request] = extractor.requests
    assert request.method == "POST"
    assert json.loads(request.body) == {"fileUrl": FILE_URL, "jobId": str(JOB_ID)}


def test_the_signature_arrives_byte_for_byte(extractor: WebServer) -> None:
    call(local(), f"{extractor.url}/run")
    assert FILE_URL.encode() in extractor.requests[0].body


def test_headers_carry_the_rest(extractor: WebServer) -> None:
    call(local(), f"{extractor.url}/run")
    headers = extractor.requests[0].headers
    assert headers["content-type"] == "application/json"
    assert headers["idempotency-key"] == str(JOB_ID)
    assert headers["traceparent"] == TRACE_PARENT
    assert headers["user-agent"] == "extractor-service"
    assert headers["host"] == f"127.0.0.1:{extractor.port}"
    assert "x-extractor-callback-token" not in headers


def test_where_to_report_over_https_goes_with_the_call(extractor: WebServer) -> None:
    callback = Callback("https://app.example/v1/jobs/1/status", "token")
    local().call(f"{extractor.url}/run", FILE_URL, JOB_ID, TRACE_PARENT, callback)
    headers = extractor.requests[0].headers
    assert headers["x-extractor-callback-url"] == callback.url
    assert headers["x-extractor-callback-token"] == callback.token


def test_path_and_query_of_the_registered_url_are_kept(extractor: WebServer) -> None:
    call(local(), f"{extractor.url}/a%2Fb/run?code=x%2By%3D&v=1#part")
    assert extractor.requests[0].path == "/a%2Fb/run?code=x%2By%3D&v=1"


# How the answer is read


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299, 409])
def test_2xx_and_409_are_taken(extractor: WebServer, status: int) -> None:
    extractor.answer = lambda _: Reply(status)
    answer = call(local(), extractor.url)
    assert (answer.reading, answer.status) == (Reading.TAKEN, status)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_what_may_pass_is_a_passing_failure(extractor: WebServer, status: int) -> None:
    extractor.answer = lambda _: Reply(status)
    answer = call(local(), extractor.url)
    assert (answer.reading, answer.status) == (Reading.PASSING, status)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "The extractor answered 400 Bad Request"),
        (401, "The extractor answered 401 Unauthorized"),
        (404, "The extractor answered 404 Not Found"),
        (499, "The extractor answered 499"),
        (301, "The extractor answered 301 Moved Permanently; redirects are not followed"),
        (307, "The extractor answered 307 Temporary Redirect; redirects are not followed"),
    ],
)
def test_any_other_answer_is_a_refusal_that_names_it(
    extractor: WebServer, status: int, text: str
) -> None:
    extractor.answer = lambda _: Reply(status, b"secret details")
    assert call(local(), extractor.url) == Answer(Reading.REFUSED, text, status)


def test_a_redirect_is_not_followed(extractor: WebServer) -> None:
    extractor.answer = lambda _: Reply(307, headers={"Location": f"{extractor.url}/elsewhere"})
    call(local(), f"{extractor.url}/run")
    assert [request.path for request in extractor.requests] == ["/run"]


@pytest.mark.parametrize("body", [b'{"id": 7}', b"[1]", b'"text"', b' {"a": "\xc3\xa4"}\n'])
def test_a_json_answer_is_kept_as_it_came(extractor: WebServer, body: bytes) -> None:
    extractor.answer = lambda _: Reply(202, body)
    assert call(local(), extractor.url).text == body.decode()


def test_a_byte_order_mark_is_not_kept(extractor: WebServer) -> None:
    extractor.answer = lambda _: Reply(202, b"\xef\xbb\xbf{}")
    assert call(local(), extractor.url).text == "{}"


LARGEST = b'"' + b"a" * (LONGEST_TEXT - 2) + b'"'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Welcome</html>",
        b"taken",
        b'{"id": ',
        b"\xff\xfe{\x00}\x00",
        b"[" * 60_000,
        LARGEST[:-1] + b'a"',
        b" " * 200_000 + b"{}",
    ],
)
def test_an_answer_that_is_no_json_or_too_long_is_taken_but_not_kept(
    extractor: WebServer, body: bytes
) -> None:
    extractor.answer = lambda _: Reply(200, body)
    assert call(local(), extractor.url) == Answer(Reading.TAKEN, None, 200)


def test_the_longest_answer_that_fits_is_kept(extractor: WebServer) -> None:
    extractor.answer = lambda _: Reply(200, LARGEST)
    assert call(local(), extractor.url).text == LARGEST.decode()


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("30", timedelta(seconds=30)),
        ("Mon, 01 Jan 2024 12:02:00 GMT", timedelta(minutes=2)),
        ("later", None),
    ],
)
def test_retry_after_is_read(extractor: WebServer, value: str, wait: timedelta | None) -> None:
    extractor.answer = lambda _: Reply(503, headers={"Retry-After": value})
    assert call(local(), extractor.url).retry_after == wait


def test_a_chunked_answer_is_read() -> None:
    chunked = b"HTTP/1.1 202 A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with socket_server(saying(chunked)) as server:
        assert call(local(), f"http://127.0.0.1:{server.port}").text == "{}"


# Extractors that misbehave


def test_a_refused_connection_may_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as ended:
        port = ended.getsockname()[1]
    answer = call(local(), f"http://127.0.0.1:{port}")
    assert answer == Answer(Reading.PASSING, "The extractor refused the connection")


@pytest.mark.parametrize(
    ("behaviour", "text"),
    [
        (closing, "The extractor closed the connection without an answer"),
        (saying(b"SSH-2.0-OpenSSH\r\n"), "The extractor's answer is not HTTP"),
        (saying(b"HTTP/1.1 2x2 OK\r\n\r\n"), "The extractor's answer is not HTTP"),
        (saying(b"HTTP/1.1 200 " + b"a" * 70_000), "The extractor's answer is not HTTP"),
        (saying(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200), "The extractor's answer is not HTTP"),
    ],
)
def test_an_answer_that_is_none_may_pass(behaviour: Behaviour, text: str) -> None:
    with socket_server(behaviour) as server:
        answer = call(local(), f"http://127.0.0.1:{server.port}")
    assert answer == Answer(Reading.PASSING, text)


@pytest.mark.parametrize(
    "behaviour",
    [
        silent,
        dribbling(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        dribbling(b"HTTP/1.1 100 Continue\r\n\r\n" * 9),
    ],
    ids=["silent", "dribbling", "for ever continuing"],
)
def test_the_deadline_ends_a_call_however_busy_the_extractor_seems(behaviour: Behaviour) -> None:
    api = local(seconds=0.4)
    with socket_server(behaviour) as server:
        begun = time.monotonic()
        answer = call(api, f"http://127.0.0.1:{server.port}")
        took = time.monotonic() - begun
    assert answer == Answer(Reading.PASSING, "The extractor did not answer in time")
    assert took < api.longest_call.total_seconds() + 0.3


def test_a_status_decides_even_when_the_body_never_ends() -> None:
    head = b"HTTP/1.1 202 Accepted\r\nContent-Length: 1000\r\n\r\n"

    def behaviour(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(head)
        dribbling(b'{"a":' + b" " * 60)(connection)

    api = local(seconds=0.4)
    with socket_server(behaviour) as server:
        begun = time.monotonic()
        answer = call(api, f"http://127.0.0.1:{server.port}")
        took = time.monotonic() - begun
    assert answer == Answer(Reading.TAKEN, None, 202)
    assert took < api.longest_call.total_seconds() + 0.3


def test_a_body_that_breaks_off_is_taken_but_not_kept() -> None:
    with socket_server(saying(b'HTTP/1.1 202 A\r\nContent-Length: 9\r\n\r\n{"a"')) as server:
        answer = call(local(), f"http://127.0.0.1:{server.port}")
    assert answer == Answer(Reading.TAKEN, None, 202)


def test_a_handshake_that_never_ends_meets_the_deadline() -> None:
    with socket_server(silent) as server:
        answer = call(local(seconds=0.4), f"https://127.0.0.1:{server.port}")
    assert answer == Answer(Reading.PASSING, "The extractor did not answer in time")


def test_a_server_without_tls_may_pass(extractor: WebServer) -> None:
    answer = call(local(), f"https://127.0.0.1:{extractor.port}")
    assert answer == Answer(Reading.PASSING, "No TLS connection to the extractor could be made")


# Addresses


def test_the_checked_address_is_connected_to_and_the_name_stays_what_is_certified(
    certificate: SelfSigned,
) -> None:
    resolver = FakeResolver("127.0.0.1")
    api = local(resolve=resolver, tls=certificate.for_client())
    with web_server(lambda _: Reply(202), certificate.for_server()) as server:
        answer = call(api, f"https://{HOST}:{server.port}/run")
    assert answer.reading is Reading.TAKEN
    [request] = server.requests
    assert request.headers["host"] == f"{HOST}:{server.port}"
    assert request.server_name == HOST
    assert resolver.asked == [HOST]


def test_a_certificate_of_another_name_is_not_accepted(certificate: SelfSigned) -> None:
    api = local(resolve=FakeResolver("127.0.0.1"), tls=certificate.for_client())
    with web_server(lambda _: Reply(202), certificate.for_server()) as server:
        answer = call(api, f"https://other.test:{server.port}/run")
    assert answer.reading is Reading.PASSING
    assert "certificate was not accepted" in (answer.text or "")
    assert "other.test" in (answer.text or "")
    assert server.requests == []


def test_a_certificate_of_an_unknown_authority_is_not_accepted(certificate: SelfSigned) -> None:
    api = local(resolve=FakeResolver("127.0.0.1"))
    with web_server(lambda _: Reply(202), certificate.for_server()) as server:
        answer = call(api, f"https://{HOST}:{server.port}/run")
    assert answer.reading is Reading.PASSING
    assert "self-signed certificate" in (answer.text or "")
    assert server.requests == []


def test_the_next_address_of_a_host_is_tried_when_one_refuses(extractor: WebServer) -> None:
    api = local(resolve=FakeResolver("127.0.0.2", "127.0.0.1"))
    assert call(api, f"http://{HOST}:{extractor.port}").reading is Reading.TAKEN


@pytest.mark.parametrize(
    ("addresses", "kind"),
    [
        (["127.0.0.1"], "loopback"),
        (["20.1.2.3", "10.0.0.1"], "private"),
        (["2606:4700::1", "::ffff:169.254.169.254"], "metadata"),
        (["168.63.129.16"], "metadata"),
    ],
)
def test_a_host_with_one_address_that_is_not_public_is_not_connected_to(
    addresses: list[str], kind: str
) -> None:
    api = HttpsExtractorApi(resolve=FakeResolver(*addresses))
    with socket_server(silent) as server:
        answer = call(api, f"https://{HOST}:{server.port}/run")
    assert answer.reading is Reading.REFUSED
    assert answer.text == (
        f"The extractor was not called: its host has a {kind} address; only public are called"
    )
    assert server.connections == []


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://extractor.test/run", "must use https"),
        ("https://user:pass@extractor.test/run", "user name or password"),
        ("https://2130706433/run", "four decimal numbers"),
        ("https://127.0.0.1/run", "loopback address"),
        ("https://[::1]/run", "loopback address"),
        ("https://localhost/run", "loopback address"),
    ],
)
def test_a_refused_url_is_never_connected_to_and_the_answer_names_the_rule(
    url: str, rule: str
) -> None:
    answer = call(HttpsExtractorApi(), url)
    assert answer.reading is Reading.REFUSED
    assert rule in (answer.text or "")


def test_a_name_that_cannot_be_resolved_may_pass() -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    expected = Answer(Reading.PASSING, "The extractor's host name could not be resolved")
    assert call(local(resolve=resolve), f"https://{HOST}/run") == expected
    assert call(local(resolve=FakeResolver()), f"https://{HOST}/run") == expected


def test_a_look_up_that_hangs_meets_the_deadline() -> None:
    release = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        release.wait(10)
        return ["127.0.0.1"]

    answer = call(local(seconds=0.2, resolve=resolve), f"https://{HOST}/run")
    release.set()
    assert answer == Answer(Reading.PASSING, "The extractor did not answer in time")


# What is never said


def test_no_text_holds_the_signed_link_or_the_extractor_s_url(extractor: WebServer) -> None:
    with socket_server(closing) as rude:
        urls = [
            f"{extractor.url}/run?code=secret",
            f"https://127.0.0.1:{extractor.port}/run?code=secret",
            f"http://127.0.0.1:{rude.port}/run?code=secret",
            "http://127.0.0.1:1/run?code=secret",
            "ftp://extractor.test/run?code=secret",
        ]
        extractor.answer = lambda _: Reply(400, FILE_URL.encode())
        texts = [call(local(), url).text or "" for url in urls]
    assert all(texts)
    assert not [text for text in texts if "sig" in text or "secret" in text or "://" in text]


def test_building_the_client_reads_no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssl, "create_default_context", lambda: pytest.fail("read at construction"))
    assert HttpsExtractorApi().longest_call == timedelta(seconds=30)
