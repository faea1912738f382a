"""What the probe prints: a line for each thing that works, and one for what does not."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shared.telemetry import redact

LONGEST_DETAIL = 400

Tell = Callable[[str], None]
"""Sets what is said of a step behind its name."""


class ProbeFailedError(Exception):
    """A step did not come out as it must. The text says what to look at."""


@contextmanager
def step(name: str) -> Iterator[Tell]:
    """Time one step and print how it came out. Raises ProbeFailedError for whatever it raised."""
    begun = time.monotonic()
    details: list[str] = []
    try:
        yield details.append
    except Exception as error:
        if not isinstance(error, ProbeFailedError):
            error = ProbeFailedError(f"{type(error).__name__}: {_first_line(error)}")
        say("FAILED", name, begun, str(error))
        raise error from None
    say("ok", name, begun, *details)


def say(outcome: str, name: str, begun: float, *details: str) -> None:
    """Print one line, without secrets."""
    text = redact(" ".join(details))[:LONGEST_DETAIL]
    seconds = time.monotonic() - begun
    sys.stdout.write(f"  {outcome:<7} {name:<22} {seconds:6.1f} s  {text}".rstrip() + "\n")
    sys.stdout.flush()


def _first_line(error: Exception) -> str:
    return (str(error).strip() or "no reason was given").splitlines()[0]
