"""Waiting for a condition, with a deadline."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Return once `condition()` is true. Raises TimeoutError after `seconds`."""
    async with asyncio.timeout(seconds):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)
