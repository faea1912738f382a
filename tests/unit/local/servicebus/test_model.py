"""Whatever is done to a broker, in whatever order and at whatever time, the model says the same."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from local.servicebus.errors import LockLost, MessageNotFound, NotAllowed
from local.servicebus.filters import parse_sql_filter
from local.servicebus.store import State
from local.servicebus.topology import Subscription
from tests.unit.local.servicebus.bus import Bus, Got, message
from tests.unit.local.servicebus.model import DEAD, Item, Model, Sent

WINDOW = 10_000
SUBSCRIPTIONS = (
    Subscription(
        "picky",
        lock_duration=20_000,
        max_delivery_count=2,
        time_to_live=60_000,
        dead_letter_on_expiration=True,
        rules=(parse_sql_filter("sys.Label = 'a'"),),
    ),
    Subscription("all", lock_duration=30_000, max_delivery_count=3),
)
QUEUES = [name + suffix for name in ("picky", "all") for suffix in ("", DEAD)]

Place = st.integers(0, 9)
"""Which of the things that there are, counted from the newest."""


class Machine(RuleBasedStateMachine):
    """Does everything to a broker and to the model, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self.bus = Bus(Path(self._folder.name), *SUBSCRIPTIONS, duplicate_window=WINDOW)
        self.model = Model(WINDOW, {"picky": "a", "all": None}, *SUBSCRIPTIONS)
        self.sent = 0
        self.taken: list[tuple[str, Got]] = []
        """Deliveries with their queues; some of their locks are over."""

    def teardown(self) -> None:
        self.bus.close()
        self._folder.cleanup()

    @rule(
        repeated=st.sampled_from([False, False, True]),
        labels=st.text("aaab", min_size=1, max_size=3),
        seconds=st.sampled_from([None, None, 10, 90]),
        later=st.sampled_from([None, None, None, 0, 15_000, 50_000]),
    )
    def send(self, repeated: bool, labels: str, seconds: int | None, later: int | None) -> None:
        scheduled = None if later is None else self.model.now + later
        time_to_live = None if seconds is None else seconds * 1_000
        for label in labels:
            self.sent += 1
            body = f"m{self.sent}"
            sent = Sent(body, "again" if repeated else body, label, time_to_live, scheduled)
            self.bus.send(
                message(body, id=sent.id, subject=label, scheduled=scheduled, ttl=seconds or 0)
            )
            self.model.send(sent)

    @precondition(lambda self: any(self.model.ready(name) for name in QUEUES))
    @rule(place=Place, most=st.integers(1, 3), delete=st.sampled_from([False, False, False, True]))
    def receive(self, place: int, most: int, delete: bool) -> None:
        names = [name for name in QUEUES if self.model.ready(name)]
        name = names[place % len(names)]
        expected = self.model.ready(name)[:most]
        got = self.bus.receive(name, most, delete=delete)
        assert [seen(each) for each in got] == [shown(item) for item in expected]
        for each, item in zip(got, expected, strict=True):
            if delete:
                self.model.queues[name].remove(item)
            else:
                self._locked(name, each, item)

    @precondition(lambda self: self._deferred())
    @rule(place=Place)
    def receive_deferred(self, place: int) -> None:
        deferred = self._deferred()
        name, item = deferred[place % len(deferred)]
        (got,) = self.bus.receive_deferred(item.number, name=name)
        assert seen(got) == shown(item)
        self._locked(name, got, item)
        with pytest.raises(MessageNotFound):
            self.bus.receive_deferred(item.number, name=name)

    @precondition(lambda self: self.taken)
    @rule(place=Place, failed=st.booleans())
    def give_back(self, place: int, failed: bool) -> None:
        def in_model(name: str, item: Item) -> None:
            self.model.give_back(name, item, failed=failed)

        self._settle(place, self.bus.abandon if failed else self.bus.release, in_model)

    @precondition(lambda self: any(self.model.ready(name) for name in QUEUES))
    @rule(place=Place)
    def receive_and_abandon(self, place: int) -> None:
        self.receive(place, most=1, delete=False)
        self.give_back(place=0, failed=True)

    @precondition(lambda self: self.taken)
    @rule(place=Place)
    def complete(self, place: int) -> None:
        def in_model(name: str, item: Item) -> None:
            self.model.queues[name].remove(item)

        self._settle(place, self.bus.complete, in_model)

    @precondition(lambda self: self.taken)
    @rule(place=Place)
    def defer(self, place: int) -> None:
        def in_model(name: str, item: Item) -> None:
            item.state, item.token = State.DEFERRED, None

        self._settle(place, self.bus.defer, in_model)

    @precondition(lambda self: self.taken)
    @rule(place=Place)
    def renew(self, place: int) -> None:
        def in_model(name: str, item: Item) -> None:
            assert item.token
            self.model.lock(name, item, item.token)

        self._settle(place, self.bus.renew, in_model)

    @precondition(lambda self: self.taken)
    @rule(place=Place)
    def dead_letter(self, place: int) -> None:
        def really(got: Got, name: str) -> None:
            if name.endswith(DEAD) and self.model.held(name, got.id):
                with pytest.raises(NotAllowed):
                    self.bus.dead_letter(got, name)
            else:
                self.bus.dead_letter(got, name, DeadLetterReason="bad")

        def in_model(name: str, item: Item) -> None:
            if not name.endswith(DEAD):
                self.model.bury(name, item, "bad")

        self._settle(place, really, in_model)

    @precondition(lambda self: self.model.topic)
    @rule(place=Place)
    def cancel(self, place: int) -> None:
        item = self.model.topic.pop(place % len(self.model.topic))
        self.bus.cancel(item.number)
        with pytest.raises(MessageNotFound):
            self.bus.cancel(item.number)

    @precondition(lambda self: self.sent)
    @rule(milliseconds=st.sampled_from([1, 1_000, 9_999, 10_000, 10_000, 20_000]))
    def pass_time(self, milliseconds: int) -> None:
        self.bus.pass_time(milliseconds)
        self.model.pass_time(milliseconds)

    @precondition(lambda self: self.sent)
    @rule()
    def restart(self) -> None:
        self.bus.close()
        self.bus.open(*SUBSCRIPTIONS, duplicate_window=WINDOW)

    @invariant()
    def broker_and_model_show_the_same(self) -> None:
        for name in QUEUES:
            expected = [shown(item) for item in self.model.shown(name)]
            assert [seen(each) for each in self.bus.peek(name)] == expected
        topic = sorted(self.model.topic, key=lambda item: item.number)
        assert [seen(each) for each in self.bus.peek("jobs")] == [shown(item) for item in topic]

    def _locked(self, name: str, got: Got, item: Item) -> None:
        self.model.lock(name, item, got.id)
        assert got.annotation("x-opt-locked-until") == item.locked_until
        self.taken.append((name, got))

    def _deferred(self) -> list[tuple[str, Item]]:
        return [
            (name, item)
            for name in QUEUES
            for item in self.model.queues[name]
            if item.state is State.DEFERRED and not item.token
        ]

    def _settle(
        self,
        place: int,
        really: Callable[[Got, str], object],
        in_model: Callable[[str, Item], object],
    ) -> None:
        """Settle one of the deliveries, which stays in the list until its lock is found lost."""
        at = -1 - place % len(self.taken)
        name, got = self.taken[at]
        item = self.model.held(name, got.id)
        if item is None:
            del self.taken[at]
            with pytest.raises(LockLost):
                really(got, name)
        else:
            really(got, name)
            in_model(name, item)


type Facts = tuple[int, str, int, int, object]


def seen(got: Got) -> Facts:
    """What a delivery, or a message that was peeked at, tells."""
    properties: dict[object, object] = dict(got.message.properties or {})
    state = got.annotation("x-opt-message-state")
    deliveries = got.message.delivery_count
    return got.number, got.body, state, deliveries, properties.get("DeadLetterReason")


def shown(item: Item) -> Facts:
    """What the model says that it tells."""
    return item.number, item.sent.body, item.state, item.deliveries, item.reason


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
