"""Request and reply over a pair of links, as `$cbs` and `$management` work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from proton import Delivery, Message, MessageException, Receiver, Sender

from local.servicebus import raw
from local.servicebus.entities import normal
from local.servicebus.errors import BadMessage, NotAllowed
from local.servicebus.links import Incoming

if TYPE_CHECKING:
    from local.servicebus.connection import Connection

LARGEST_REQUEST = 1_048_576
"""Bytes of one request; several messages may be scheduled with one."""

type Node = Callable[[Message], Message]
"""Answers a request with its reply."""


class ReplyLinks:
    """The links of one connection on which replies can be sent."""

    def __init__(self) -> None:
        self._links: list[ReplyLink] = []

    def add(self, link: ReplyLink) -> None:
        self._links.append(link)

    def remove(self, link: ReplyLink) -> None:
        self._links.remove(link)

    def find(self, node: str, reply_to: str | None) -> ReplyLink:
        """The link from `node` that `reply_to` means, the newest one where it is None.

        The .NET client names the link's target address, the Node client the link itself.
        """
        for link in reversed(self._links):
            if link.node == node and reply_to in (None, link.address, link.name):
                return link
        raise NotAllowed(f"There is no link from '{node}' to '{reply_to}' for the reply.")


class ReplyLink:
    """A client's receiver on a node."""

    def __init__(self, connection: Connection, link: Sender, node: str) -> None:
        self.node = node
        self.name = link.name
        self.address = link.remote_target.address
        self._link = link
        self._replies = connection.replies
        self._sent = 0
        self._replies.add(self)

    def send(self, reply: Message) -> None:
        self._sent += 1
        delivery = self._link.delivery(str(self._sent))
        self._link.stream(reply.encode())
        self._link.advance()
        delivery.settle()

    def flow(self) -> None:
        """Replies that wait for credit are sent by the engine."""

    def delivery(self, delivery: Delivery) -> None:
        delivery.settle()

    def closed(self) -> None:
        self._replies.remove(self)


class RequestLink(Incoming):
    """A client's sender on a node."""

    def __init__(self, connection: Connection, link: Receiver, node: Node) -> None:
        super().__init__(link, LARGEST_REQUEST, self._answer)
        self._replies = connection.replies
        self._address = normal(link.remote_target.address)
        self._node = node

    def _answer(self, encoded: bytes) -> None:
        request = Message()
        try:
            raw.sections(encoded)  # Proton decodes garbage to an empty message
            request.decode(encoded)
        except (ValueError, MessageException) as error:
            raise BadMessage(f"The request cannot be read: {error}.") from error
        link = self._replies.find(self._address, request.reply_to)
        reply = self._node(request)
        reply.correlation_id = request.id
        link.send(reply)
