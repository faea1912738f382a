"""The addresses that clients can name, and what each stands for."""

import re
from dataclasses import dataclass

from local.servicebus.errors import NotAllowed, NotFound
from local.servicebus.topology import Subscription, Topic, Topology

DEAD_LETTER_SUFFIX = "$DeadLetterQueue"

_SCHEME_AND_HOST = re.compile(r"[a-z]+://[^/]*", re.IGNORECASE)


@dataclass(frozen=True)
class DeadLetterQueue:
    """Where a subscription's messages lie that were given up; nothing expires here."""

    id: int
    address: str
    lock_duration: int


@dataclass(frozen=True)
class SubscriptionQueue:
    """The messages of one subscription."""

    id: int
    address: str
    settings: Subscription
    dead_letters: DeadLetterQueue

    @property
    def lock_duration(self) -> int:
        return self.settings.lock_duration


@dataclass(frozen=True)
class TopicEntity:
    """What is sent to; it holds only messages that are scheduled for later."""

    id: int
    address: str
    settings: Topic
    queues: tuple[SubscriptionQueue, ...]


type Queue = SubscriptionQueue | DeadLetterQueue
type Entity = TopicEntity | Queue


def addresses(topology: Topology) -> list[str]:
    """Every address of the topology, as it is written."""
    found = []
    for topic in topology.topics:
        found.append(topic.name)
        for subscription in topic.subscriptions:
            address = f"{topic.name}/Subscriptions/{subscription.name}"
            found += [address, f"{address}/{DEAD_LETTER_SUFFIX}"]
    return found


class Directory:
    """Finds entities by address: case does not matter, nor a leading slash or scheme and host."""

    def __init__(self, topology: Topology, ids: dict[str, int]) -> None:
        """`ids` holds the id of every address of `topology`, in lower case."""
        self._ids = ids
        self._entities: dict[str, Entity] = {}
        self._by_id: dict[int, Entity] = {}
        for topic in topology.topics:
            self._add(TopicEntity(*self._named(topic.name), topic, self._queues(topic)))

    def find(self, address: str | None) -> Entity:
        """The entity at `address`; raises NotFound naming it."""
        entity = self._entities.get(normal(address))
        if entity is None:
            raise NotFound(f"The messaging entity '{address}' could not be found.")
        return entity

    def topic(self, address: str | None) -> TopicEntity:
        entity = self.find(address)
        if not isinstance(entity, TopicEntity):
            raise NotAllowed(f"'{address}' is not a topic: messages cannot be sent to it.")
        return entity

    def queue(self, address: str | None) -> Queue:
        entity = self.find(address)
        if isinstance(entity, TopicEntity):
            raise NotAllowed(f"'{address}' is a topic: receive from one of its subscriptions.")
        return entity

    def by_id(self, entity: int) -> Entity:
        return self._by_id[entity]

    def _queues(self, topic: Topic) -> tuple[SubscriptionQueue, ...]:
        queues = []
        for subscription in topic.subscriptions:
            address = f"{topic.name}/Subscriptions/{subscription.name}"
            dead_letters = DeadLetterQueue(
                *self._named(f"{address}/{DEAD_LETTER_SUFFIX}"), subscription.lock_duration
            )
            queue = SubscriptionQueue(*self._named(address), subscription, dead_letters)
            self._add(dead_letters)
            self._add(queue)
            queues.append(queue)
        return tuple(queues)

    def _named(self, address: str) -> tuple[int, str]:
        return self._ids[address.lower()], address

    def _add(self, entity: Entity) -> None:
        self._entities[entity.address.lower()] = entity
        self._by_id[entity.id] = entity


def normal(address: str | None) -> str:
    """The form in which addresses are compared: the lower-case path alone."""
    return _SCHEME_AND_HOST.sub("", address or "", count=1).strip("/").lower()
