"""Amounts of money, given back as a plain decimal with its currency where there is one."""

import re
from collections.abc import Iterator

_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
_CODES = "EUR|USD|GBP|JPY|CHF|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|CAD|AUD|AED|SAR"
_CURRENCY = rf"[€$£¥]|(?<![A-Za-z])(?:{_CODES})(?![A-Za-z])"
_GROUPS = "[.,'\N{RIGHT SINGLE QUOTATION MARK}\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]"
_MINUS = "[-\N{MINUS SIGN}]"
_NUMBER = (
    rf"(?P<whole>\d{{1,3}}(?:(?P<group>{_GROUPS})\d{{3}})(?:(?P=group)\d{{3}}){{0,4}}|\d{{1,12}})"
    r"(?:[.,](?P<cents>\d\d))?(?!\d|[.,/-]\d|[a-z])"
)
_AMOUNT = re.compile(
    rf"(?<![\w.,/-]){_MINUS}?(?:(?P<before>{_CURRENCY}) ?)?{_MINUS}?"
    rf"{_NUMBER}(?: ?(?P<after>{_CURRENCY}))?"
)


def find_amounts(text: str) -> Iterator[str]:
    """Numbers with a currency, and numbers with exactly two decimals: `EUR 1234.50`, `85.00`.

    Point and comma both serve for decimals and for groups of three; `$` is taken for US dollars.
    """
    for match in _AMOUNT.finditer(text):
        currency = match["before"] or match["after"]
        if currency or match["cents"]:
            yield _plain(match, currency)


def _plain(match: re.Match[str], currency: str | None) -> str:
    number = re.sub(r"\D", "", match["whole"]) + (f".{match['cents']}" if match["cents"] else "")
    signed = f"-{number}" if re.search(_MINUS, match[0]) else number
    return f"{_SYMBOLS.get(currency, currency)} {signed}" if currency else signed
