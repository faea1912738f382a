"""The listening end: accepts connections on loopback until it is closed."""

import asyncio
from pathlib import Path

from proton import Condition

from local.servicebus.broker import Broker
from local.servicebus.clock import Clock, SystemClock
from local.servicebus.connection import Connection
from local.servicebus.faults import Faults, FaultyBroker, FaultyConnection
from local.servicebus.service import Service
from local.servicebus.store import Store
from local.servicebus.topology import Topology
from local.settings import HOST

GRACE_SECONDS = 0.3
"""How long clients may take to read the last words before they are cut."""


class Server:
    """A Service Bus that listens; made by `listen`."""

    def __init__(
        self, service: Service, listener: asyncio.Server, connections: set[Connection]
    ) -> None:
        self.service = service
        self.port: int = listener.sockets[0].getsockname()[1]
        self._listener = listener
        self.connections = connections
        """Those that are open now."""

    async def close(self) -> None:
        """Stop listening, tell every client, and close the store."""
        self._listener.close()
        for connection in list(self.connections):
            connection.close(Condition("amqp:connection:forced", "The broker is stopping."))
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await self._listener.wait_closed()
        except TimeoutError:
            self._listener.abort_clients()
        self.service.close()


async def listen(
    topology: Topology,
    data: Path,
    port: int = 0,
    clock: Clock | None = None,
    faults: Faults | None = None,
) -> Server:
    """Serve `topology` from the file in `data` on a port of 127.0.0.1, a free one for 0.

    Raises StoreError when the folder cannot be used and OSError when the port is taken.
    """
    store = Store(data)
    clock = clock or SystemClock()
    try:
        with store.transaction():
            broker = _broker(topology, store, clock, faults)
        service = Service(broker, store, clock)
        connections: set[Connection] = set()
        listener = await asyncio.get_running_loop().create_server(
            lambda: _connection(service, connections, faults), HOST, port
        )
    except BaseException:
        store.close()
        raise
    service.turn()
    return Server(service, listener, connections)


def _broker(topology: Topology, store: Store, clock: Clock, faults: Faults | None) -> Broker:
    if faults is None:
        return Broker(topology, store, clock)
    return FaultyBroker(topology, store, clock, faults)


def _connection(
    service: Service, connections: set[Connection], faults: Faults | None
) -> Connection:
    if faults is None:
        return Connection(service, connections)
    return FaultyConnection(service, connections, faults)
