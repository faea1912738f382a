"""International bank account numbers (ISO 13616): by country, length and check digits."""

import re
from collections.abc import Iterator

_LENGTHS = {
    country: int(length)
    for country, length in re.findall(
        r"([A-Z]{2})(\d{2})",
        """
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20
    EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30
    KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 OM23
    PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26
    UA29 VA22 VG24 XK20
    """,
    )
}
_START = re.compile(r"\b([A-Z]{2})\d{2}(?= ?[A-Z0-9])")
_LONGEST_WITH_SPACES = 2 * max(_LENGTHS.values())


def find_ibans(text: str) -> Iterator[str]:
    """Valid IBANs in the order of the text, without the spaces that group their characters."""
    for start in _START.finditer(text):
        if length := _LENGTHS.get(start[1]):
            candidate = _take(text[start.start() :][:_LONGEST_WITH_SPACES], length)
            if candidate and _check_digits_fit(candidate):
                yield candidate


def _take(text: str, length: int) -> str | None:
    """The first `length` letters and digits, single spaces between them; None if words go on."""
    match = re.match(rf"(?:[A-Z0-9] ?){{{length - 1}}}[A-Z0-9]\b", text)
    return match[0].replace(" ", "") if match else None


def _check_digits_fit(iban: str) -> bool:
    """ISO 7064, MOD 97-10: country and check digits to the end, letters as 10 to 35."""
    digits = "".join(str(int(character, 36)) for character in iban[4:] + iban[:4])
    return int(digits) % 97 == 1
