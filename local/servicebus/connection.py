"""One client connection: bytes in, Proton's engine, bytes out.

The stream is cut into frames and given to the engine one by one, so that what only the bytes say
of a transfer (its message format) is known while its event is handled.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, cast

from proton import (
    Collector,
    Condition,
    Delivery,
    Event,
    EventType,
    Link,
    Session,
    Transport,
    TransportException,
)
from proton import Connection as Engine

from local.servicebus.attach import open_link
from local.servicebus.frames import LARGEST_FRAME, FrameReader, is_batch
from local.servicebus.links import LinkHandler
from local.servicebus.raw import DecodeError
from local.servicebus.requests import ReplyLinks
from local.servicebus.sasl import SaslServer, Step
from local.servicebus.service import Service

logger = logging.getLogger(__name__)

WINDOW = 1_048_576
"""Bytes that may wait to be sent to a slow client before its deliveries pause."""


class Connection(asyncio.Protocol):
    """The protocol of one accepted socket."""

    def __init__(self, service: Service, connections: "set[Connection]") -> None:
        """`connections` holds this one as long as it is open."""
        self.service = service
        self.replies = ReplyLinks()
        self.batch = False
        """Whether the frame that is being handled starts a batch."""
        self._connections = connections
        self._frames = FrameReader()
        self._sasl = SaslServer()
        self._handlers: dict[Link, LinkHandler] = {}
        self._starved = False
        self._heartbeat: asyncio.TimerHandle | None = None
        self._collector = Collector()
        self._engine = Engine()
        self._engine.container = "local-servicebus"
        self._engine.collect(self._collector)
        self._transport = Transport(Transport.SERVER)
        self._transport.max_frame_size = LARGEST_FRAME
        self._transport.bind(self._engine)

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast(asyncio.Transport, transport)
        self._socket.set_write_buffer_limits(high=WINDOW)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        self.service.turn(self, lambda: self._receive(data))

    def resume_writing(self) -> None:
        self.service.turn()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._forget(lambda link: True)

    # Called by the service and the links

    def has_room(self, session: Session) -> bool:
        """Whether another delivery may be queued; where not, a turn follows when it may."""
        waiting = session.outgoing_bytes + self._socket.get_write_buffer_size()
        if waiting >= WINDOW:
            self._starved = True
        return waiting < WINDOW

    def flush(self) -> None:
        if self._socket.is_closing():
            return
        self._keep_alive()
        pieces = []
        while (pending := self._transport.pending()) > 0:
            pieces.append(self._transport.peek(pending) or b"")
            self._transport.pop(pending)
        self._write(b"".join(pieces))
        if pending < 0 or self._transport.capacity() < 0:
            # One of them has ended the connection, or the engine could not read what came.
            self._socket.close()
        elif self._starved and self._socket.get_write_buffer_size() <= WINDOW:
            self._starved = False
            asyncio.get_running_loop().call_soon(self.service.turn)

    def abort(self) -> None:
        self._socket.abort()

    def close(self, condition: Condition) -> None:
        """Tell the client why the connection ends, and end it."""
        self._engine.condition = condition
        self._engine.close()
        self.flush()
        self._socket.close()

    def _write(self, data: bytes) -> None:
        self._socket.write(data)

    def _keep_alive(self) -> None:
        """Let the engine send an empty frame when the client's idle time-out asks for one."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None
        loop = asyncio.get_running_loop()
        deadline = self._transport.tick(loop.time())
        if deadline:
            self._heartbeat = loop.call_at(deadline, self.flush)

    # Input

    def _receive(self, data: bytes) -> None:
        for piece in self._frames.feed(data):
            if self._sasl.step is Step.DONE:
                self._frame(piece)
            elif self._sasl.step is not Step.REFUSED:
                self._write(self._sasl.receive(piece))
        if self._sasl.step is Step.REFUSED:
            self._socket.close()

    def _frame(self, frame: bytes) -> None:
        try:
            self.batch = is_batch(frame)
        except DecodeError:
            self.batch = False  # the engine finds the same fault and says so to the client
        try:
            self._push(frame)
        except TransportException as error:
            logger.info("a client sent what is not AMQP: %s", error)
        while (event := self._collector.peek()) is not None:
            handle = _EVENTS.get(event.type)
            if handle is not None:
                handle(self, event.context)
            self._collector.pop()

    def _push(self, frame: bytes) -> None:
        while frame and (capacity := self._transport.capacity()) > 0:
            self._transport.push(frame[:capacity])
            frame = frame[capacity:]

    def _on_connection_open(self, engine: Engine) -> None:
        engine.open()

    def _on_connection_close(self, engine: Engine) -> None:
        engine.close()

    def _on_session_open(self, session: Session) -> None:
        session.open()

    def _on_session_close(self, session: Session) -> None:
        self._forget(lambda link: link.session == session)
        session.close()
        session.free()

    def _on_link_open(self, link: Link) -> None:
        handler = open_link(self, link)
        if handler is not None:
            self._handlers[link] = handler

    def _on_link_close(self, link: Link) -> None:
        self._forget(lambda other: other == link)
        link.close()
        link.free()

    def _on_link_detach(self, link: Link) -> None:
        self._forget(lambda other: other == link)
        link.detach()
        link.free()

    def _on_flow(self, link: Link) -> None:
        handler = self._handlers.get(link)
        if handler is not None:
            handler.flow()

    def _on_delivery(self, delivery: Delivery) -> None:
        handler = self._handlers.get(delivery.link)
        if handler is not None:
            handler.delivery(delivery)

    def _on_error(self, transport: Transport) -> None:
        logger.info("a connection failed: %s", transport.condition)

    def _forget(self, which: Callable[[Link], bool]) -> None:
        for link in [link for link in self._handlers if which(link)]:
            self._handlers.pop(link).closed()


_EVENTS: dict[EventType, Callable[[Connection, Any], None]] = {
    Event.CONNECTION_REMOTE_OPEN: Connection._on_connection_open,
    Event.CONNECTION_REMOTE_CLOSE: Connection._on_connection_close,
    Event.SESSION_REMOTE_OPEN: Connection._on_session_open,
    Event.SESSION_REMOTE_CLOSE: Connection._on_session_close,
    Event.LINK_REMOTE_OPEN: Connection._on_link_open,
    Event.LINK_REMOTE_CLOSE: Connection._on_link_close,
    Event.LINK_REMOTE_DETACH: Connection._on_link_detach,
    Event.LINK_FLOW: Connection._on_flow,
    Event.DELIVERY: Connection._on_delivery,
    Event.TRANSPORT_ERROR: Connection._on_error,
}
