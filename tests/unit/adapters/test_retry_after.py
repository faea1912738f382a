"""The Retry-After header, by seconds or by date."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.retry_after import read_retry_after

NOW = datetime(2024, 1, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("0", timedelta(0)),
        ("120", timedelta(minutes=2)),
        (" 7 ", timedelta(seconds=7)),
        ("Mon, 01 Jan 2024 12:05:00 GMT", timedelta(minutes=5)),
        ("Mon, 01 Jan 2024 12:05:00 -0000", timedelta(minutes=5)),
        ("Monday, 01-Jan-24 12:05:00 GMT", timedelta(minutes=5)),
        ("Mon, 01 Jan 2024 11:00:00 GMT", timedelta(0)),
    ],
)
def test_seconds_and_dates_are_read(value: str, wait: timedelta) -> None:
    assert read_retry_after(value, NOW) == wait


@pytest.mark.parametrize("value", [None, "", "soon", "-5", "1.5", "٣", "Mon, 99 Jan 2024", "1e9"])
def test_what_is_neither_asks_for_no_wait_at_all(value: str | None) -> None:
    assert read_retry_after(value, NOW) is None


def test_a_number_beyond_all_dates_is_cut() -> None:
    wait = read_retry_after("9" * 400, NOW)
    assert wait is not None
    assert wait < timedelta(days=5000)
