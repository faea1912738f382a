"""AMQP clients that do one thing after the other, as fast as they are answered, and time it."""

import time
from dataclasses import dataclass, field
from typing import Any

from proton import Connection, Link, Message
from proton.handlers import MessagingHandler
from proton.reactor import Container

TOPIC = "jobs"
SUBSCRIPTION = "jobs/Subscriptions/sub"
BODY = b'{"kilobyte": "' + b"x" * 1_000 + b'"}'


@dataclass
class Times:
    """What each step took in seconds; the first began at `began`, the last ended at `ended`."""

    began: float = 0.0
    ended: float = 0.0
    steps: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Steps in a second."""
        return len(self.steps) / (self.ended - self.began)


def send(port: int, clients: int, count: int, in_flight: int = 1) -> Times:
    """Send `count` messages over `clients` connections; a step ends when the broker accepts."""
    return _run(Sending(port, clients, count, in_flight))


def complete(port: int, clients: int, count: int) -> Times:
    """Take and complete `count` messages; a step ends when the broker confirms."""
    return _run(Completing(port, clients, count, in_flight=1))


class Load(MessagingHandler):
    """Each of the connections makes its steps, until there were `count` in all."""

    def __init__(self, port: int, clients: int, count: int, in_flight: int) -> None:
        super().__init__(prefetch=0, auto_accept=False)
        self.times = Times()
        self._url = f"127.0.0.1:{port}"
        self._count = count
        self._to_begin = count
        self._in_flight = in_flight
        self._clients = clients
        self._connections: list[Connection] = []

    def on_start(self, event: Any) -> None:
        for _ in range(self._clients):
            connection = event.container.connect(self._url, allowed_mechs="ANONYMOUS")
            self._connections.append(connection)
            self.open_link(event.container, connection)

    def open_link(self, container: Container, connection: Connection) -> None:
        raise NotImplementedError

    def begin(self, link: Any) -> None:
        """Begin a step."""
        raise NotImplementedError

    def ready(self, link: Link) -> None:
        """Begin the first steps of a link that has opened."""
        self.times.began = self.times.began or time.perf_counter()
        for _ in range(self._in_flight):
            self._next(link)

    def ended(self, link: Link, began: float) -> None:
        self.times.ended = time.perf_counter()
        self.times.steps.append(self.times.ended - began)
        self._next(link)
        if len(self.times.steps) == self._count:
            for connection in self._connections:
                connection.close()

    def _next(self, link: Link) -> None:
        if self._to_begin > 0:
            self._to_begin -= 1
            self.begin(link)


class Sending(Load):
    def open_link(self, container: Container, connection: Connection) -> None:
        link = container.create_sender(connection, TOPIC)
        link.started = False

    def on_sendable(self, event: Any) -> None:
        if not event.link.started:
            event.link.started = True
            self.ready(event.link)

    def begin(self, link: Any) -> None:
        link.send(Message(body=BODY, inferred=True)).began = time.perf_counter()

    def on_accepted(self, event: Any) -> None:
        self.ended(event.link, event.delivery.began)


class Completing(Load):
    def open_link(self, container: Container, connection: Connection) -> None:
        container.create_receiver(connection, SUBSCRIPTION)

    def on_link_opened(self, event: Any) -> None:
        self.ready(event.link)

    def begin(self, link: Any) -> None:
        link.began = time.perf_counter()
        link.flow(1)

    def on_message(self, event: Any) -> None:
        event.delivery.update(event.delivery.ACCEPTED)

    def on_settled(self, event: Any) -> None:
        self.ended(event.link, event.link.began)


def _run(load: Load) -> Times:
    Container(load).run()
    return load.times
