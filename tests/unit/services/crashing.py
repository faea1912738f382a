"""A process that dies at every step, one after another, and then begins again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.database import empty_database
from tests.unit.services.world import Crash, Steps, World

MOST_STEPS = 60


def crash_at_every_step(
    tmp_path: Path, prepare: Callable[[World], object], act: Callable[[World], object]
) -> list[World]:
    """A world for each step of `act` that it died at, where `act` was then repeated."""
    worlds = []
    for crash_at in range(1, MOST_STEPS):
        folder = tmp_path / str(crash_at)
        folder.mkdir()
        world = World(empty_database(folder))
        prepare(world)
        world.steps = Steps(crash_at)
        try:
            act(world)
        except Crash:
            world.steps = Steps()
            # A lease that the dead process holds has to run out first.
            world.passes(minutes=2)
            act(world)
            worlds.append(world)
        else:
            return worlds
    pytest.fail("there are more steps than this test looks at")
