"""The management calls answer as recorded: a whole session with the real host, played again."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.contract.durable.hub import OPTIONS, running_hub
from tests.contract.durable.recorded_functions import recorded_functions
from tests.contract.durable.recorded_session import play
from tests.contract.durable.session import Session
from tests.recordings import blurred, replayed

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_session.json").read_text())
HUB = "HubC4"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every call was answered."""
    return asyncio.run(_play(tmp_path_factory.mktemp("session") / "hub.db"))


@pytest.mark.parametrize("name", replayed("management calls", {name: name for name in RECORDED}))
def test_a_call_is_answered_as_recorded(seen: dict[str, Any], name: str) -> None:
    assert blurred(seen.get(name), RECORDED[name]) == RECORDED[name]


async def _play(database: Path) -> dict[str, Any]:
    options = replace(OPTIONS, hub_name=HUB)
    async with running_hub(database, recorded_functions(), options, clock_rate=2) as hub:
        return await play(Session(hub))
