"""An AMQP client on Proton's engine, for what Microsoft's clients cannot be made to do.

Everything happens inside `until`: it writes what the engine has to say, reads what comes, and
keeps the engine's events until the condition holds.
"""

import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from proton import (
    SASL,
    Collector,
    Condition,
    Delivery,
    Disposition,
    Event,
    Link,
    Message,
    Receiver,
    Sender,
    Session,
    Transport,
    int32,
)
from proton import Connection as Engine

PATIENCE_SECONDS = 5.0
SUB = "jobs/Subscriptions/sub"
"""The subscription that most tests receive from."""


@dataclass
class Arrived:
    """A message that came on a receiver: its delivery and its bytes."""

    delivery: Delivery
    encoded: bytes

    @property
    def message(self) -> Message:
        message = Message()
        message.decode(self.encoded)
        return message

    @property
    def body(self) -> Any:
        message = self.message
        body = message.body
        # Proton shows binary data inside the message, which ends with this function.
        return bytes(body) if isinstance(body, memoryview) else body


class RawClient:
    """One connection with one session."""

    def __init__(
        self, port: int, *, idle_timeout: float | None = None, channel_max: int | None = None
    ) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.arrived: deque[Arrived] = deque()
        self.events: list[str] = []
        self._collector = Collector()
        self.engine = Engine()
        self.engine.collect(self._collector)
        self.engine.hostname = "localhost"
        self.transport = Transport(Transport.CLIENT)
        sasl: SASL = self.transport.sasl()
        sasl.allowed_mechs("ANONYMOUS")
        if idle_timeout is not None:
            self.transport.idle_timeout = idle_timeout
        if channel_max is not None:
            self.transport.channel_max = channel_max
        self.transport.bind(self.engine)
        self.engine.open()
        self.session: Session = self.engine.session()
        self.session.open()
        self.paused = False

    # Links

    def sender(self, address: str, **options: Any) -> Sender:
        link = self.session.sender(f"s{len(self.events)}-{address}")
        self._address(link, address, **options)
        self.until(lambda: link.state & Link.REMOTE_ACTIVE or link.state & Link.REMOTE_CLOSED)
        return link

    def receiver(self, address: str, credit: int = 0, **options: Any) -> Receiver:
        link = self.session.receiver(f"r{len(self.events)}-{address}")
        self._address(link, address, **options)
        if credit:
            link.flow(credit)
        self.until(lambda: link.state & Link.REMOTE_ACTIVE or link.state & Link.REMOTE_CLOSED)
        return link

    def _address(
        self,
        link: Link,
        address: str,
        *,
        target: str | None = None,
        settled: bool = False,
        prepare: Callable[[Link], None] | None = None,
    ) -> None:
        link.source.address = address if link.is_receiver else "here"
        link.target.address = (target or address) if link.is_receiver else address
        if settled:
            link.snd_settle_mode = Link.SND_SETTLED
        if prepare is not None:
            prepare(link)
        link.open()

    # Messages

    def send(self, link: Sender, encoded: bytes, *, settled: bool = False) -> Delivery:
        """Transfer bytes and wait for the answer."""
        delivery = link.delivery(f"t{time.monotonic_ns()}")
        link.stream(encoded)
        link.advance()
        if settled:
            delivery.settle()
        else:
            self.until(lambda: delivery.settled)
        return delivery

    def next(self) -> Arrived:
        self.until(lambda: self.arrived)
        return self.arrived.popleft()

    def settle(self, arrived: Arrived, state: int) -> Delivery:
        """Tell the outcome unsettled, as Microsoft's clients do, and wait for the answer."""
        arrived.delivery.update(state)
        self.until(lambda: arrived.delivery.settled)
        return arrived.delivery

    def request(self, address: str, **fields: Any) -> Message:
        """Send a request to the node at `address` and wait for its reply."""
        replies = self.receiver(address, credit=1, target="reply-here")
        requests = self.sender(address)
        self.send(requests, Message(reply_to="reply-here", **fields).encode())
        reply = self.next().message
        replies.close()
        requests.close()
        return reply

    # The engine

    def until(self, condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> None:
        """Work until `condition` holds.

        Raises AssertionError when it never does, ConnectionError when the broker went away first.
        """
        deadline = time.monotonic() + seconds
        self._work(0)
        while not condition():
            if "eof" in self.events:
                raise ConnectionError("the broker closed the connection")
            assert time.monotonic() < deadline, f"never came; seen: {self.events[-10:]}"
            self._work(0.02)

    def idle(self, seconds: float) -> None:
        """Work for a while, whatever comes."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._work(0.02)

    def _work(self, wait: float) -> None:
        self.transport.tick(time.monotonic())
        while (pending := self.transport.pending()) > 0:
            self.socket.sendall(self.transport.peek(pending) or b"")
            self.transport.pop(pending)
        if not self.paused and select.select([self.socket], [], [], wait)[0]:
            self._read()
        for event in self._events():
            self._handle(event)

    def _read(self) -> None:
        capacity = self.transport.capacity()
        if capacity <= 0:
            self.events.append("eof")
            return
        data = self.socket.recv(min(capacity, 65_536))
        if data:
            self.transport.push(data)
        else:
            self.events.append("eof")
            self.transport.close_tail()

    def _events(self) -> Iterator[Event]:
        while (event := self._collector.peek()) is not None:
            yield event
            self._collector.pop()

    def _handle(self, event: Event) -> None:
        self.events.append(str(event.type))
        delivery = event.delivery
        if event.type == Event.DELIVERY and delivery is not None and delivery.readable:
            self._receive(delivery)

    def _receive(self, delivery: Delivery) -> None:
        link = delivery.link
        if isinstance(link, Receiver) and not delivery.partial:
            self.arrived.append(Arrived(delivery, bytes(link.recv(delivery.pending) or b"")))
            link.advance()


@contextmanager
def raw_client(port: int, **options: Any) -> Iterator[RawClient]:
    """A connection that ends with the block."""
    client = RawClient(port, **options)
    try:
        yield client
    finally:
        client.socket.close()


def send(port: int, *texts: str, **fields: Any) -> None:
    """Send a message with each text to the topic `jobs`, in a fraction of Microsoft's time."""
    with raw_client(port) as client:
        link = client.sender("jobs")
        for text in texts:
            encoded = Message(body=text.encode(), inferred=True, **fields).encode()
            assert client.send(link, encoded).remote_state == Delivery.ACCEPTED


def message(body: object, **fields: object) -> bytes:
    """An encoded message with a body of the type of `body`."""
    return bytes(Message(body=body, **fields).encode())  # type: ignore[arg-type]


def condition_of(delivery: Delivery) -> Condition:
    """Why a delivery was rejected."""
    assert delivery.remote_state == Disposition.REJECTED
    assert delivery.remote.condition is not None
    return delivery.remote.condition


def peek(client: RawClient, start: int = 0) -> dict[str, object]:
    """The properties of the reply to a peek at the next message."""
    reply = client.request(
        f"{SUB}/$management",
        properties={"operation": "com.microsoft:peek-message"},
        body={"from-sequence-number": start, "message-count": int32(1)},
    )
    return dict(reply.properties or {})
