"""Old data is removed by night; nothing that is young or unsent is."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shared import wiring
from shared.domain.errors import TransientError
from shared.functions import purge
from shared.services import purge as purge_service
from tests.database import empty_database
from tests.unit.services.world import World

run = purge.purge._function.get_user_function().client_function


@dataclass
class PurgingClient:
    """A durable client that remembers what it was asked to purge."""

    asked: list[dict[str, Any]] = field(default_factory=list)

    async def purge_instance_history_by(self, **asked: Any) -> Any:
        self.asked.append(asked)
        return SimpleNamespace(instances_deleted=3)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(empty_database(tmp_path))
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return world


def rows_left(world: World) -> int:
    return world.sql.run(lambda tx: tx.outbox.purge(world.now + timedelta(days=3650), 1000))


async def test_what_was_sent_long_ago_is_removed(world: World) -> None:
    world.accepted()
    world.passes(days=31)
    await run(None, PurgingClient())
    assert rows_left(world) == 0


async def test_what_was_sent_lately_stays(world: World) -> None:
    world.accepted()
    world.passes(days=29)
    await run(None, PurgingClient())
    assert rows_left(world) == 1


async def test_what_was_never_sent_stays_and_can_still_be_sent(world: World) -> None:
    world.down.add("service bus")
    with pytest.raises(TransientError):
        world.accepted()
    world.passes(days=100)
    world.down.clear()
    await run(None, PurgingClient())
    (job,) = world.jobs()
    world.send_outbox(job.job_id)
    assert world.announced() == ["JobQueued"]


async def test_only_histories_that_ended_and_are_old_are_purged(world: World) -> None:
    client = PurgingClient()
    await run(None, client)
    (asked,) = client.asked
    assert asked["created_time_to"] == world.now - timedelta(days=30)
    assert "Running" not in {status.name for status in asked["runtime_status"]}


def test_a_large_backlog_goes_in_small_batches(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge_service, "BATCH", 1)
    world.registered = []
    world.accepted()  # two messages: JobQueued, JobFailed
    world.passes(days=31)
    assert world.purge() == {"outboxRows": 2}
