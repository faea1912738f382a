"""One HTTP exchange with addresses that were checked before, ended by one deadline."""

import http.client
import io
import socket
import ssl
import time
from collections.abc import Sequence
from typing import Any

from shared.adapters.outgoing_addresses import Target


class Deadline:
    """The moment at which everything about one exchange ends."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self, at_most: float = float("inf")) -> float:
        """Seconds left, `at_most` so many. Raises TimeoutError when none are."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return min(left, at_most)


class PinnedConnection(http.client.HTTPConnection):
    """Connects to one of `addresses`, whatever the host's name resolves to by then.

    The name still is what the certificate is checked for and what the Host header says. Unlike
    `timeout`, which bounds each wait, the deadline also ends an exchange with a server that
    dribbles. Follows no redirects, and reads no proxy settings.
    """

    def __init__(
        self,
        target: Target,
        addresses: Sequence[str],
        tls: ssl.SSLContext | None,
        deadline: Deadline,
        connect_seconds: float,
    ) -> None:
        super().__init__(target.host, target.port)
        self.default_port = 80 if tls is None else 443
        self._addresses = addresses
        self._tls = tls
        self._deadline = deadline
        self._connect_seconds = connect_seconds

    def connect(self) -> None:
        """Connect, with TLS where it is wanted. Raises OSError of the last address tried."""
        sock = self._connect_to_any()
        try:
            sock.settimeout(self._deadline.remaining())
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_hostname=self.host)
        except BaseException:
            sock.close()
            raise
        self.sock = _BoundedSocket(sock, self._deadline)

    def _connect_to_any(self) -> socket.socket:
        *others, last = self._addresses
        for address in others:
            try:
                return self._connect_to(address)
            except OSError:
                continue
        return self._connect_to(last)

    def _connect_to(self, address: str) -> socket.socket:
        timeout = self._deadline.remaining(self._connect_seconds)
        return socket.create_connection((address, self.port), timeout)


class _BoundedSocket:
    """What `http.client` needs of a socket, with the time left as each operation's time-out."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        self._handed_over = False

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(self._deadline.remaining())
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        self._handed_over = True
        return io.BufferedReader(_BoundedReader(self._sock, self._deadline))

    def close(self) -> None:
        """Close, unless a reader lives on: `http.client` closes before it reads the body."""
        if not self._handed_over:
            self._sock.close()


class _BoundedReader(io.RawIOBase):
    """Reads from the socket, and closes it with itself."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._deadline.remaining())
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        self._sock.close()
        super().close()
