"""Percentiles are times that were measured."""

import random

import pytest

from benchmarks.spread import Spread, percentile


@pytest.mark.parametrize(
    ("count", "share", "expected"),
    [(1, 0.5, 1), (2, 0.5, 1), (20, 0.95, 19), (100, 0.95, 95), (100, 0.99, 99), (101, 0.5, 51)],
)
def test_a_percentile_is_the_smallest_value_that_the_share_does_not_exceed(
    count: int, share: float, expected: int
) -> None:
    values = list(range(1, count + 1))
    random.Random(count).shuffle(values)

    assert percentile(values, share) == expected


def test_of_few_values_the_99th_percentile_is_the_largest() -> None:
    assert Spread.of([0.1, 0.4, 0.2, 0.3]) == Spread(4, 0.2, 0.4, 0.4)


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        Spread.of([])
