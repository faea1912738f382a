"""Messages that fail: doubled, out of order, late, lost on the way in or on the way back."""

import random
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Any

from tests.chaos.timing import Pace
from tests.servicebus_faults import ServiceBusFaults

SHARE = 0.3
"""Of all messages: so many come twice, all the time."""

Switches = Mapping[str, Any]
CHOICES: tuple[Callable[[random.Random], Switches], ...] = (
    lambda chance: {},
    lambda chance: {"newest_first": True},
    lambda chance: {"delay_seconds": chance.uniform(0.02, 0.2)},
    lambda chance: {"lost_requests": chance.randint(1, 2)},
    lambda chance: {"lost_answers": chance.randint(1, 2)},
    lambda chance: {"break_connections": True},
)
CALM: Switches = {"newest_first": False, "delay_seconds": 0.0, "duplicate_share": SHARE}


def switch_at_random(
    faults: ServiceBusFaults, chance: random.Random, pace: Pace, calm: threading.Event
) -> None:
    """Another trouble again and again; a broker that was killed forgets its switches."""
    with suppress(OSError, HTTPException):
        faults.set(**CALM)
    while not calm.wait(chance.uniform(0.2, pace.between_switches)):
        switches = chance.choice(CHOICES)(chance)
        with suppress(OSError, HTTPException):
            faults.set(**{**CALM, **switches})
