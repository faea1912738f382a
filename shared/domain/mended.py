"""What reconciliation has found and mended, counted by kind."""

from dataclasses import dataclass
from datetime import datetime

PASSES = "passes"
"""Counted as the others are: how often reconciliation went over everything."""


@dataclass(frozen=True)
class Mended:
    """How many of a kind were mended since counting began, and when the last one was."""

    kind: str
    total: int
    last_at: datetime
