"""Durations in settings are ISO 8601."""

import pytest

from local.servicebus.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("PT5M", 300_000),
        ("PT1H", 3_600_000),
        ("P7D", 604_800_000),
        ("P1W", 604_800_000),
        ("PT20S", 20_000),
        ("PT0.25S", 250),
        ("P1DT2H3M4.5S", 93_784_500),
        ("P10675199DT2H48M5.4775807S", 922_337_203_685_478),
    ],
)
def test_a_duration_is_read_as_milliseconds(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "5M", "PT5", "P1Y", "P1M", "-PT5M", "PT5M ", "pt5m"]
)
def test_what_is_no_duration_of_fixed_length_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        parse_duration(text)
