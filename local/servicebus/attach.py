"""What happens when a client attaches a link: which entity it means, or why it is refused."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from proton import Condition, Link, Receiver, Sender, Terminus

from local.servicebus import cbs
from local.servicebus.entities import normal
from local.servicebus.errors import BrokerError, NotImplementedHere
from local.servicebus.links import Consumer, LinkHandler, Producer
from local.servicebus.management import SUFFIX as MANAGEMENT
from local.servicebus.management import Management
from local.servicebus.message import LARGEST_MESSAGE
from local.servicebus.requests import LARGEST_REQUEST, Node, ReplyLink, RequestLink

if TYPE_CHECKING:
    from local.servicebus.connection import Connection

logger = logging.getLogger(__name__)

_SESSION_FILTER = "com.microsoft:session-filter"


def open_link(connection: Connection, link: Link) -> LinkHandler | None:
    """Open our end of `link`; None, with the reason on the wire, where it is refused."""
    address = link.remote_target.address if link.is_receiver else link.remote_source.address
    try:
        _refuse_unsupported(link)
        node = _node(connection, address)
        handler = _handler(connection, link, address, node)
    except BrokerError as error:
        _refuse(link, error)
        return None
    link.source.copy(link.remote_source)
    link.target.copy(link.remote_target)
    link.snd_settle_mode = link.remote_snd_settle_mode
    link.rcv_settle_mode = link.remote_rcv_settle_mode
    link.max_message_size = LARGEST_REQUEST if node else LARGEST_MESSAGE
    link.open()
    return handler


def _refuse(link: Link, error: BrokerError) -> None:
    """Attach without source and target, then detach with the reason: AMQP's way, and Azure's."""
    logger.info("refused a link: %s", error)
    link.source.type = link.target.type = Terminus.UNSPECIFIED
    link.open()
    link.condition = Condition(error.condition, str(error))
    link.close()


def _handler(
    connection: Connection, link: Link, address: str | None, node: Node | None
) -> LinkHandler:
    directory = connection.service.broker.directory
    if isinstance(link, Receiver):
        if node is not None:
            return RequestLink(connection, link, node)
        return Producer(connection, link, directory.topic(address))
    sender = cast(Sender, link)
    if node is not None:
        return ReplyLink(connection, sender, normal(address))
    return Consumer(connection, sender, directory.queue(address))


def _node(connection: Connection, address: str | None) -> Node | None:
    """The request-reply node at `address`, if that is what it names."""
    name = normal(address)
    if name == cbs.ADDRESS:
        return cbs.take_token
    if name.endswith(MANAGEMENT):
        broker = connection.service.broker
        return Management(broker, broker.directory.find(name.removesuffix(MANAGEMENT))).answer
    return None


def _refuse_unsupported(link: Link) -> None:
    if link.remote_target.type == Terminus.COORDINATOR:
        raise NotImplementedHere("Transactions are not offered.")
    filters = link.remote_source.filter
    if filters.next() and _SESSION_FILTER in filters.get_dict():
        raise NotImplementedHere("Sessions are not offered.")
