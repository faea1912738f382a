"""Brokers on the test's own folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.servicebus.topology import Subscription
from tests.unit.local.servicebus.bus import Bus

type MakeBus = Callable[..., Bus]


@pytest.fixture
def make_bus(tmp_path: Path) -> Iterator[MakeBus]:
    """Makes a broker whose topic `jobs` has the given subscriptions."""
    made: list[Bus] = []

    def make(*subscriptions: Subscription, **topic: int | None) -> Bus:
        made.append(Bus(tmp_path, *subscriptions, **topic))
        return made[-1]

    yield make
    for bus in made:
        bus.close()


@pytest.fixture
def bus(make_bus: MakeBus) -> Bus:
    """Topic `jobs` with subscription `sub`: locks of a minute, three deliveries."""
    return make_bus(Subscription("sub", lock_duration=60_000, max_delivery_count=3))
