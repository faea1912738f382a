"""What a broker does, in a page: lists of messages in memory, and nothing else.

Times are milliseconds. Messages are accepted one by one, numbered from 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from uuid import UUID

from local.servicebus.store import State
from local.servicebus.topology import Subscription
from tests.unit.local.servicebus.bus import START

DEAD = "/$DeadLetterQueue"
TTL = "TTLExpiredException"
DELIVERIES = "MaxDeliveryCountExceeded"


@dataclass(frozen=True)
class Sent:
    """A message as it is sent; `label` is what the rules look at."""

    body: str
    id: str
    label: str
    time_to_live: int | None = None
    scheduled: int | None = None


@dataclass
class Item:
    """One copy of a message; `due` is when it expires or, while it is scheduled, appears."""

    number: int
    sent: Sent
    due: int | None
    state: State = State.ACTIVE
    deliveries: int = 0
    token: UUID | None = None
    locked_until: int = 0
    reason: str | None = None

    @property
    def acts_at(self) -> int | None:
        """When time does something to it."""
        if self.token:
            return self.locked_until
        return self.due if self.state is not State.DEFERRED else None


class Model:
    def __init__(self, window: int, labels: dict[str, str | None], *settings: Subscription) -> None:
        """`labels` says which messages each subscription takes, None for all of them."""
        self.now = START
        self._window = window
        self._labels = labels
        self._settings = {each.name: each for each in settings}
        self._seen: dict[str, int] = {}
        self._numbers = count(1)
        self.topic: list[Item] = []
        self.queues: dict[str, list[Item]] = {}
        for name in labels:
            self.queues |= {name: [], name + DEAD: []}

    def send(self, sent: Sent) -> None:
        if self._seen.get(sent.id, 0) > self.now:
            return
        self._seen[sent.id] = self.now + self._window
        if sent.scheduled is not None and sent.scheduled > self.now:
            item = Item(next(self._numbers), sent, sent.scheduled, State.SCHEDULED)
            self.topic.append(item)
        else:
            self._fan_out(sent)

    def _fan_out(self, sent: Sent) -> None:
        for name, label in self._labels.items():
            if label in (None, sent.label):
                times = [sent.time_to_live, self._settings[name].time_to_live]
                shortest = min((time for time in times if time is not None), default=None)
                due = None if shortest is None else self.now + shortest
                self.queues[name].append(Item(next(self._numbers), sent, due))

    def ready(self, name: str) -> list[Item]:
        """What a receiver gets, in this order."""
        return [
            item
            for item in self.shown(name)
            if item.state is State.ACTIVE
            and not item.token
            and (item.due is None or item.due > self.now)
        ]

    def shown(self, name: str) -> list[Item]:
        """What a peek shows, in this order."""
        return sorted(self.queues[name], key=lambda item: item.number)

    def lock(self, name: str, item: Item, token: UUID) -> None:
        lock_duration = self._settings[name.removesuffix(DEAD)].lock_duration
        item.token, item.locked_until = token, self.now + lock_duration

    def held(self, name: str, token: UUID) -> Item | None:
        """The message that is locked with `token`."""
        return next((item for item in self.queues[name] if item.token == token), None)

    def give_back(self, name: str, item: Item, *, failed: bool) -> None:
        item.token = None
        item.deliveries += failed
        if name.endswith(DEAD):
            return
        if failed and item.deliveries >= self._settings[name].max_delivery_count:
            self.bury(name, item, DELIVERIES)
        elif item.acts_at is not None and item.acts_at <= self.now:
            self._expire(name, item)

    def bury(self, name: str, item: Item, reason: str) -> None:
        self.queues[name].remove(item)
        self.queues[name + DEAD].append(item)
        item.state, item.token, item.due, item.reason = State.ACTIVE, None, None, reason

    def _expire(self, name: str, item: Item) -> None:
        if self._settings[name].dead_letter_on_expiration:
            self.bury(name, item, TTL)
        else:
            self.queues[name].remove(item)

    def pass_time(self, milliseconds: int) -> None:
        self.now += milliseconds
        for _, _, name, item in sorted(self._due()):
            if name == "":
                self.topic.remove(item)
                self._fan_out(item.sent)
            elif item.token:
                self.give_back(name, item, failed=True)
            else:
                self._expire(name, item)

    def _due(self) -> Iterator[tuple[int, int, str, Item]]:
        for name, items in {"": self.topic, **self.queues}.items():
            for item in items:
                if item.acts_at is not None and item.acts_at <= self.now:
                    yield item.acts_at, item.number, name, item
