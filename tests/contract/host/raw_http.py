"""HTTP written by hand, for requests that no client library would send."""

import socket
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """A response as it came; `body` is joined when it was sent in chunks."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of this name."""
        return next((value for n, value in self.headers if n.lower() == name.lower()), None)


def exchange(
    port: int,
    method: str,
    path: str,
    headers: list[tuple[str, str]] | None = None,
    body: bytes | None = None,
    host: str | None = "localhost:7071",
) -> Answer:
    """Send one request (text as UTF-8) and read until the connection ends."""
    lines = [f"{method} {path} HTTP/1.1"]
    names = {name.lower() for name, _ in headers or []}
    if host is not None and "host" not in names:
        lines.append(f"Host: {host}")
    lines.append("Connection: close")
    lines += [f"{name}: {value}" for name, value in headers or []]
    chunked = "transfer-encoding" in names
    if body is not None and not chunked and "content-length" not in names:
        lines.append(f"Content-Length: {len(body)}")
    if body and chunked:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return send(port, "\r\n".join([*lines, "", ""]).encode() + (body or b""))


def send(port: int, request: bytes) -> Answer:
    """Send these bytes and read until the connection ends."""
    return _parse(receive(port, request))


def receive(port: int, request: bytes, until: bytes = b"") -> bytes:
    """Send these bytes; what comes back until the connection ends, or until it ends like this."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        received = bytearray()
        while part := connection.recv(1 << 16):
            received += part
            if until and received.endswith(until):
                break
    return bytes(received)


def _parse(received: bytes) -> Answer:
    head, _, rest = received.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100 "):
        head, _, rest = rest.partition(b"\r\n\r\n")
    status_line, *lines = head.decode().split("\r\n")
    _, status, reason = status_line.split(" ", 2)
    headers = [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines)]
    chunked = ("transfer-encoding", "chunked") in [(n.lower(), v) for n, v in headers]
    return Answer(int(status), reason, headers, _join_chunks(rest) if chunked else rest)


def _join_chunks(rest: bytes) -> bytes:
    whole = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        whole += rest[:length]
        rest = rest[length + 2 :]
    return whole
