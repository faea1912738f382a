"""ISO 8601 durations, as Service Bus settings are written (`PT5M`, `P7D`, `PT1.5S`)."""

import re

_DURATION = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)

_MILLISECONDS = {
    "weeks": 604_800_000,
    "days": 86_400_000,
    "hours": 3_600_000,
    "minutes": 60_000,
    "seconds": 1_000,
}


def parse_duration(text: str) -> int:
    """Read `text` as milliseconds.

    Years and months have no fixed length and are refused, as Azure does. Raises ValueError.
    """
    match = _DURATION.fullmatch(text)
    parts = {unit: digits for unit, digits in match.groupdict().items() if digits} if match else {}
    if not parts:
        raise ValueError(f"{text!r} is not an ISO 8601 duration such as PT5M or P7D")
    return round(sum(float(digits) * _MILLISECONDS[unit] for unit, digits in parts.items()))
