"""The broker itself: entities, and what time does to their messages.

It knows no AMQP connections and keeps nothing in memory but the set of queues that may have
something to deliver: whatever its owner rolls back, and whenever the process is killed, the store
says what is true. A lock ends only by settlement or by time, also when its receiver goes away or
the broker is started again: Azure keeps the messages of a closed link locked until then.
"""

import logging

from local.servicebus.clock import Clock
from local.servicebus.entities import Directory, SubscriptionQueue, TopicEntity, addresses
from local.servicebus.publishing import Publishing
from local.servicebus.receiving import Receiving
from local.servicebus.settlement import Settlement
from local.servicebus.store import Store
from local.servicebus.topology import Topology

logger = logging.getLogger(__name__)

SWEEP_SIZE = 500
"""Messages that one sweep acts on at most; the others stay due for the next."""

WINDOW_SLACK = 1_000
"""Milliseconds for which ended duplicate windows are gathered before a sweep is due for them."""


class Broker:
    """Every operation of the parts needs an open transaction of `store`, with a sweep in front."""

    def __init__(self, topology: Topology, store: Store, clock: Clock) -> None:
        """Bring the store in line with `topology`, which needs a transaction, too.

        Entities that are no longer declared go, with their messages, as in Azure.
        """
        self._store = store
        self._clock = clock
        self.ready: set[int] = set()
        """Ids of queues that may have something to deliver; the owner empties it."""
        self.directory = Directory(topology, self._entity_ids(topology))
        self.publishing = Publishing(store, clock, self.ready)
        self.receiving = Receiving(store, clock)
        self.settlement = Settlement(store, clock, self.ready)

    def sweep(self) -> None:
        """Do what has come due: publish what was scheduled, end locks, expire, forget ids."""
        now = self._clock.now()
        for entry in self._store.due(now, SWEEP_SIZE):
            entity = self.directory.by_id(entry.entity)
            if isinstance(entity, TopicEntity):
                self.publishing.publish_scheduled(entity, entry)
            elif entry.lock_token is not None:
                self.settlement.end_lock(entity, entry)
            elif isinstance(entity, SubscriptionQueue):
                self.settlement.expire(entity, entry)
        self._store.forget(now)

    def next_due(self) -> int | None:
        """When `sweep` has something to do next, in milliseconds since 1970."""
        message = self._store.next_message_due()
        window = self._store.next_window_end()
        times = [message, None if window is None else window + WINDOW_SLACK]
        return min((time for time in times if time is not None), default=None)

    def _entity_ids(self, topology: Topology) -> dict[str, int]:
        known = self._store.entities()
        declared = {address.lower() for address in addresses(topology)}
        for address in known.keys() - declared:
            count = self._store.remove_entity(known[address])
            logger.warning("removed %s with %d messages: no longer declared", address, count)
        return {
            address: known.get(address) or self._store.add_entity(address)
            for address in sorted(declared)
        }
