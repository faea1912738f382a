"""Our host starts, fails, ends and runs calls side by side as the real one did."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.contract.host.hosts import RunningHost
from tests.contract.host.scenarios import AT_ONCE, SCENARIOS, overlap
from tests.recordings import blurred, replayed

RECORDED = json.loads(Path(__file__).with_name("recorded_hosts.json").read_text())
CALLS, PROCESSES = RECORDED["calls at once"], RECORDED["host processes"]
SIDE_BY_SIDE = 4
"""Hosts that run at once: a start is mostly imports, and most scenarios wait."""


@pytest.mark.parametrize("name", replayed("calls at once", {name: name for name in CALLS}))
def test_calls_run_side_by_side_as_recorded(edges: RunningHost, name: str) -> None:
    seen = overlap(edges.port, *AT_ONCE[name])
    assert blurred(seen, CALLS[name]) == CALLS[name]


@pytest.fixture(scope="module")
def played(
    tmp_path_factory: pytest.TempPathFactory, edges: RunningHost
) -> Iterator[Mapping[str, Future[Any]]]:
    """What is seen in each scenario."""
    pool = ThreadPoolExecutor(SIDE_BY_SIDE)
    with pool:
        yield {
            name: pool.submit(play, tmp_path_factory.mktemp("scenario"), edges)
            for name, play in SCENARIOS.items()
        }
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", replayed("host processes", {name: name for name in PROCESSES}))
def test_goes_as_recorded(played: Mapping[str, Future[Any]], name: str) -> None:
    # Given what was done with the real host, when it is done with ours
    seen = played[name].result()

    # Then the same is seen, up to times
    assert blurred(seen, PROCESSES[name]) == PROCESSES[name]
