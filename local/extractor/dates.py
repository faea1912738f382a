"""Dates as people write them, given back as ISO 8601."""

import re
from collections.abc import Iterator
from datetime import date

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?P<year>[12]\d{3})"
# Columns of a PDF often come without a space between them, hence few demands on the neighbours.
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\w-]){_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?!\d|-)",
        rf"(?<![\w.])(?P<day>\d\d?)\. ?(?P<month>\d\d?)\. ?{_YEAR}(?![\w]|\.\d)",
        rf"(?<!/)(?P<first>\d\d?)/(?P<second>\d\d?)/{_YEAR}(?!/)",
        rf"\b(?P<day>\d\d?)(?:st|nd|rd|th)?\.? {{0,2}}{_MONTH},? {{0,2}}{_YEAR}\b",
        rf"\b{_MONTH} {{0,2}}(?P<day>\d\d?)(?:st|nd|rd|th)?,? {{0,2}}{_YEAR}\b",
    )
]


def find_dates(text: str) -> Iterator[str]:
    """Dates that exist in the calendar, form by form.

    `03/04/2024` is read day first, as most of the world does, unless only the month can come first.
    """
    for form in _FORMS:
        for match in form.finditer(text):
            if found := _as_date(match.groupdict()):
                yield found.isoformat()


def _as_date(parts: dict[str, str]) -> date | None:
    year = int(parts["year"])
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second"])
        return _calendar_day(year, second, first) or _calendar_day(year, first, second)
    return _calendar_day(year, _month_number(parts["month"]), int(parts["day"]))


def _month_number(text: str) -> int:
    return int(text) if text.isdecimal() else 1 + _MONTHS.index(text[:3].lower())


def _calendar_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
