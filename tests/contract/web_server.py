"""A real HTTP server on a real socket whose answers a test writes, and what it was asked."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Request:
    """One request; header names in lower case. `server_name` is what TLS asked for, if it did."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    server_name: str | None = None


@dataclass(frozen=True)
class Reply:
    """What the server answers, with a Content-Length."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[Request], Reply]


@dataclass
class WebServer:
    """A running server: its port, what it was asked, and how it answers from here on."""

    port: int
    answer: Answer
    requests: list[Request]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def web_server(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    """Serve on a free port of 127.0.0.1, over TLS when a context is given, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state = WebServer(server.server_port, answer, [])
    server.state = state  # type: ignore[attr-defined]  # the handler's only way to it
    if tls:
        _remember_server_name(tls)
        # The handshake belongs to the connection's own thread, so that one cannot hold up others.
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _remember_server_name(tls: ssl.SSLContext) -> None:
    def remember(connection: ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> None:
        connection.asked_for = name  # type: ignore[attr-defined]

    tls.sni_callback = remember  # type: ignore[assignment]  # typeshed wants SSLObject only


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        try:
            super().handle()
        except (ssl.SSLError, ConnectionError):
            self.close_connection = True

    def _serve(self) -> None:
        state: WebServer = self.server.state  # type: ignore[attr-defined]
        request = Request(
            self.command,
            self.path,
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(int(self.headers.get("Content-Length", 0))),
            getattr(self.connection, "asked_for", None),
        )
        state.requests.append(request)
        reply = state.answer(request)
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = _serve

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
