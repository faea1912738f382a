"""How long something took, of many: the times that half of them, 95 % and 99 % did not exceed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Spread:
    """Percentiles of so many times, in seconds."""

    count: int
    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        """Raises ValueError when there are none."""
        return cls(len(seconds), *(percentile(seconds, share) for share in (0.5, 0.95, 0.99)))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed.

    Always one that was measured: of fewer than a hundred, the 99th percentile is the largest.
    Raises ValueError when there are none.
    """
    if not values:
        raise ValueError("there is no percentile of nothing")
    # Rounded first: a product such as 0.95 * 20 must not become 20 by its last digit.
    rank = math.ceil(round(share * len(values), 9))
    return sorted(values)[max(rank, 1) - 1]
