"""The header Retry-After (RFC 9110), in seconds or as a date in one of its three forms."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

_SECONDS = re.compile(r"[0-9]{1,10}")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_DATES = [
    re.compile(form)
    for form in (
        rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<day>[0-9]{{2}}) (?P<month>[A-Z][a-z]{{2}}) "
        rf"(?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?P<day>[0-9]{{2}})-"
        rf"(?P<month>[A-Z][a-z]{{2}})-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<month>[A-Z][a-z]{{2}}) (?P<day>[ 0-9][0-9]) "
        rf"{_TIME} (?P<year>[0-9]{{4}})",
    )
]


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Returns the wait that a response asks for, in seconds, or None without a valid header.

    `headers` has names in lower case. `now` is in seconds since 1970. A date counts from the
    response's own `Date`, so that a wrong local clock does no harm.
    """
    text = headers.get("retry-after")
    if text is None:
        return None
    text = text.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    until = _parse_date(text, now)
    if until is None:
        return None
    sent = _parse_date(headers.get("date", "").strip(), now)
    return max(0.0, until - (now if sent is None else sent))


def _parse_date(text: str, now: float) -> float | None:
    """Returns the seconds since 1970 of a date in one of the three forms."""
    for form in _DATES:
        found = form.fullmatch(text)
        if found is None or found["month"] not in _MONTHS:
            continue
        month = _MONTHS.index(found["month"]) + 1
        year = int(found["year"])
        if year < 100:
            # RFC 9110 reads two digits as a past year if they would be over 50 years ahead.
            this_year = datetime.fromtimestamp(now, UTC).year
            year += this_year - this_year % 100
            year -= 100 if year > this_year + 50 else 0
        hour, minute, second = (int(found[part]) for part in ("hour", "minute", "second"))
        try:
            day = int(found["day"])
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
        except ValueError:
            return None
    return None
