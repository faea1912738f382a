"""A task hub with the functions that the tests name."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.contract.durable.hub import Hub, running_hub
from tests.contract.durable.library import LibraryFunctions

type MakeHub = Callable[..., Awaitable[Hub]]


@pytest.fixture
async def make_hub(tmp_path: Path) -> AsyncIterator[MakeHub]:
    """Makes a running hub of orchestrators (positional) and `activities`, with a clock rate."""
    async with AsyncExitStack() as stack:

        async def make(
            *orchestrators: Callable[..., Any], activities: Any = (), clock_rate: float = 1
        ) -> Hub:
            functions = LibraryFunctions(orchestrators, activities)
            hub = running_hub(tmp_path / "hub.db", functions, clock_rate=clock_rate)
            return await stack.enter_async_context(hub)

        yield make
