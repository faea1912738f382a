"""Waiting for a condition instead of for a while."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Look every 20 ms until `condition()` holds. Raises AssertionError when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not happen within {seconds} s"
        time.sleep(0.02)
