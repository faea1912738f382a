"""Reading the `Retry-After` header (RFC 9110, 10.2.3)."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_LONGEST_SECONDS = 10 * 365 * 24 * 3600


def read_retry_after(value: str | None, now: datetime) -> timedelta | None:
    """How long to wait from `now` (aware), by seconds or by an HTTP date; None when unreadable.

    A date that is over asks for no wait.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdecimal():
        return timedelta(seconds=min(int(text[:20]), _LONGEST_SECONDS))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    # A date in `-0000` comes back without a zone; HTTP dates are in UTC.
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(aware - now, timedelta(0))
