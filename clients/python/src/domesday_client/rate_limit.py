"""The header RateLimit: `"requests";r=0;t=2` says that none more may come for two seconds."""

import re
from collections.abc import Mapping

_ITEM = re.compile(r'"[^"]*"((?:;[a-z*][a-z0-9_.*-]*=[^;,]*)*)')


class RateLimitGate:
    """The moment before which no request should be sent, as the last responses tell it."""

    def __init__(self) -> None:
        self._opens_at = float("-inf")

    def update(self, headers: Mapping[str, str], now: float) -> None:
        """Notes the limits of a response that arrived now, in seconds of a monotonic clock."""
        for parameters in _ITEM.findall(headers.get("ratelimit", "")):
            remaining, seconds = _parameter(parameters, "r"), _parameter(parameters, "t")
            if remaining == 0 and seconds is not None:
                self._opens_at = max(self._opens_at, now + seconds)

    def delay(self, now: float) -> float:
        """Returns the seconds until the next request may be sent."""
        return max(0.0, self._opens_at - now)


def _parameter(text: str, name: str) -> int | None:
    found = re.search(rf";{name}=([0-9]{{1,10}})(?:;|$)", text)
    return int(found[1]) if found else None


def has_limit(text: str) -> bool:
    """Returns true if a header RateLimit has an item with a number of remaining requests."""
    return any(_parameter(parameters, "r") is not None for parameters in _ITEM.findall(text))
