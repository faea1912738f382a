"""The registration service over real sockets."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest

from shared.adapters import registration_api
from shared.adapters.registration_api import (
    KEPT_CONNECTIONS,
    LONGEST_ANSWER,
    HttpRegistrationApi,
)
from shared.domain.errors import PermanentError, TransientError
from shared.domain.jobs import Extractor
from tests.contract.socket_server import Behaviour, dribbling, saying, silent, socket_server
from tests.contract.socket_server import closing as hanging_up
from tests.contract.web_server import Reply, Request, WebServer, web_server

TOKEN = "header.payload.signature"
TWO = [
    {"clientApplicationExtractorId": 7, "extractionUrl": "https://a.example/run"},
    {"clientApplicationExtractorId": 9, "extractionUrl": "https://b.example/run", "extra": 1},
]


@pytest.fixture
def service() -> Iterator[WebServer]:
    with web_server(lambda _: Reply(200, json.dumps(TWO).encode())) as server:
        yield server


@pytest.fixture
def api(service: WebServer) -> Iterator[HttpRegistrationApi]:
    with closing(client(service.url, seconds=5)) as made:
        yield made


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration_api, "FIRST_PAUSE_SECONDS", 0.1)


def client(url: str, seconds: float = 0.05) -> HttpRegistrationApi:
    return HttpRegistrationApi(url, lambda: TOKEN, timedelta(seconds=seconds))


def server_url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def test_the_client_s_extractors_are_read(api: HttpRegistrationApi) -> None:
    assert api.extractors_of("client-1") == [
        Extractor(7, "https://a.example/run"),
        Extractor(9, "https://b.example/run"),
    ]


def test_a_client_without_extractors_has_an_empty_list(
    service: WebServer, api: HttpRegistrationApi
) -> None:
    service.answer = lambda _: Reply(200, b"[]")
    assert api.extractors_of("client-1") == []


def test_the_service_s_token_is_sent(service: WebServer, api: HttpRegistrationApi) -> None:
    api.extractors_of("client-1")
    assert service.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("client_id", "segment"),
    [
        ("client-1", "client-1"),
        ("a/b", "a%2Fb"),
        ("../admin", "..%2Fadmin"),
        ("a b?c#d", "a%20b%3Fc%23d"),
        ("%2e%2e", "%252e%252e"),
        ("näme", "n%C3%A4me"),
        ("...", "..."),
    ],
)
def test_the_client_id_is_one_segment_of_the_path(
    service: WebServer, api: HttpRegistrationApi, client_id: str, segment: str
) -> None:
    api.extractors_of(client_id)
    assert service.requests[0].path == f"/registration/{segment}/extractors"


@pytest.mark.parametrize("client_id", ["", ".", ".."])
def test_an_id_that_no_path_can_carry_is_refused(
    service: WebServer, api: HttpRegistrationApi, client_id: str
) -> None:
    with pytest.raises(PermanentError, match="client application's id"):
        api.extractors_of(client_id)
    assert service.requests == []


@pytest.mark.parametrize("status", [301, 302, 400, 401, 403, 404, 410])
def test_a_refusal_is_transient_named_and_not_asked_again(service: WebServer, status: int) -> None:
    service.answer = lambda _: Reply(status, headers={"Location": "/elsewhere"})
    with (
        closing(client(service.url, seconds=5)) as api,
        pytest.raises(TransientError, match=f"registration: answered {status}") as caught,
    ):
        api.extractors_of("client-1")
    assert TOKEN not in str(caught.value)
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_service_is_asked_again(service: WebServer, status: int) -> None:
    def busy_once(_: Request) -> Reply:
        return Reply(status) if len(service.requests) == 1 else Reply(200, b"[]")

    service.answer = busy_once
    with closing(client(service.url, seconds=5)) as api:
        assert api.extractors_of("client-1") == []
    assert len(service.requests) == 2


def test_a_service_that_stays_busy_is_given_up_within_the_patience(service: WebServer) -> None:
    service.answer = lambda _: Reply(503)
    begun = time.monotonic()
    with (
        closing(client(service.url, seconds=0.6)) as api,
        pytest.raises(TransientError, match="registration: answered 503"),
    ):
        api.extractors_of("client-1")
    assert time.monotonic() - begun < 1
    assert len(service.requests) == 3  # at 0, 0.1 and 0.3 s; the next would be at 0.7 s


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "not JSON"),
        (b"<html>", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "breaks the contract"),
        (b"[{}]", "breaks the contract"),
        (b'[{"clientApplicationExtractorId": "7", "extractionUrl": "x"}]', "breaks the contract"),
        (b" " * LONGEST_ANSWER + b"[]", "longer than 1048576 bytes"),
    ],
)
def test_an_answer_that_cannot_be_read_is_transient(
    service: WebServer, api: HttpRegistrationApi, body: bytes, problem: str
) -> None:
    service.answer = lambda _: Reply(200, body)
    with pytest.raises(TransientError, match=f"registration: its answer .*{problem}"):
        api.extractors_of("client-1")


def test_a_refused_connection_is_transient() -> None:
    with socket.create_server(("127.0.0.1", 0)) as ended:
        port = ended.getsockname()[1]
    with (
        closing(client(server_url(port))) as api,
        pytest.raises(TransientError, match="registration: ConnectionError"),
    ):
        api.extractors_of("client-1")


@pytest.mark.parametrize(
    "behaviour",
    [
        silent,
        hanging_up,
        saying(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n[]"),
        saying(b"SSH-2.0\r\n\r\n"),
        dribbling(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + b" " * 99, seconds=0.01),
        dribbling(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 50, 0.01
        ),
    ],
    ids=["silent", "hanging up", "breaking off", "no HTTP", "dribbling", "dribbling chunks"],
)
def test_a_service_that_misbehaves_is_transient_within_the_patience(behaviour: Behaviour) -> None:
    with socket_server(behaviour) as server, closing(client(server_url(server.port), 0.3)) as api:
        begun = time.monotonic()
        with pytest.raises(TransientError, match="registration"):
            api.extractors_of("client-1")
        assert time.monotonic() - begun < 2


def test_no_token_is_no_call(service: WebServer) -> None:
    def outage() -> str:
        raise TransientError("token endpoint", "answered 503")

    with (
        closing(HttpRegistrationApi(service.url, outage)) as api,
        pytest.raises(TransientError, match="token endpoint"),
    ):
        api.extractors_of("client-1")
    assert service.requests == []


def test_nothing_is_kept_between_calls(service: WebServer, api: HttpRegistrationApi) -> None:
    service.answer = lambda _: Reply(200, b"[]", {"Set-Cookie": "session=1"})
    api.extractors_of("client-1")
    api.extractors_of("client-2")
    assert "cookie" not in service.requests[1].headers


def test_threads_share_the_client(service: WebServer, api: HttpRegistrationApi) -> None:
    def echo(request: Request) -> Reply:
        number = int(request.path.split("/")[2])
        row = {"clientApplicationExtractorId": number, "extractionUrl": "https://a"}
        return Reply(200, json.dumps([row]).encode())

    service.answer = echo
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: api.extractors_of(str(number)), range(1, 60)))
    assert [row.extractor_id for [row] in found] == list(range(1, 60))


def test_every_thread_s_connection_is_kept_for_the_next_question(
    service: WebServer, api: HttpRegistrationApi, caplog: pytest.LogCaptureFixture
) -> None:
    all_ask = threading.Barrier(KEPT_CONNECTIONS)

    def answer_when_all_ask(_: Request) -> Reply:
        all_ask.wait(timeout=10)
        return Reply(200, b"[]")

    service.answer = answer_when_all_ask
    with ThreadPoolExecutor(KEPT_CONNECTIONS) as threads:
        list(threads.map(api.extractors_of, ["client-1"] * KEPT_CONNECTIONS))

    assert "discarding connection" not in caplog.text
