"""A server that does to each connection what a test says, however wrong."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[[socket.socket], object]


@dataclass
class SocketServer:
    """A running server: its port, and the connections it got."""

    port: int
    connections: list[socket.socket] = field(default_factory=list)


@contextmanager
def socket_server(behaviour: Behaviour) -> Iterator[SocketServer]:
    """Accept on a free port of 127.0.0.1; each connection has a thread and ends with the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = SocketServer(listener.getsockname()[1])
        threads: list[threading.Thread] = []

        def converse(connection: socket.socket) -> None:
            with suppress(OSError):
                behaviour(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    server.connections.append(connection)
                    threads.append(threading.Thread(target=converse, args=(connection,)))
                    threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection in server.connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()
            for thread in threads:
                thread.join()


def silent(connection: socket.socket) -> None:
    """Read what comes and never answer."""
    while connection.recv(65536):
        pass


def closing(connection: socket.socket) -> None:
    """Read a request and close without an answer."""
    connection.recv(65536)
    connection.shutdown(socket.SHUT_RDWR)


def dribbling(text: bytes, seconds: float = 0.05) -> Behaviour:
    """Answer one byte at a time, each within any time-out for a single read."""

    def dribble(connection: socket.socket) -> None:
        connection.recv(65536)
        for number in range(len(text)):
            connection.sendall(text[number : number + 1])
            time.sleep(seconds)

    return dribble


def saying(text: bytes) -> Behaviour:
    """Answer these very bytes and close."""

    def say(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(text)
        connection.shutdown(socket.SHUT_RDWR)

    return say
