"""When a request is sent again.

The contract allows it after 429, 500 and 503 alone, never where `retryable` is false, and no sooner
than Retry-After says. A request that was never sent may always be.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .errors import EXHAUSTED_ALLOWANCE, ErrorResponse

_RETRIED = frozenset({429, 500, 503})


@dataclass(frozen=True)
class RetryLimits:
    """The bounds of retries."""

    #: Most requests for one call, the first included.
    max_attempts: int = 5
    #: The longest sum of the waits of one call, in seconds.
    max_wait_seconds: float = 60.0
    #: Upper end of the first random wait, in seconds. Each further one is twice as long.
    first_backoff_seconds: float = 0.5
    #: The longest random wait, in seconds.
    max_backoff_seconds: float = 8.0


@dataclass(frozen=True)
class Loss:
    """An attempt without a complete response."""

    cause: BaseException
    #: False if there never was a connection.
    sent: bool = True


@dataclass(frozen=True)
class Refusal:
    """An attempt whose response is an error."""

    response: ErrorResponse


Failure = Loss | Refusal


def may_retry(failure: Failure, repeatable: bool) -> bool:
    """Returns true if the request may be sent again. `repeatable` decides for a lost connection."""
    if isinstance(failure, Loss):
        return repeatable or not failure.sent
    body = failure.response.body
    items = body.all if body.first is None else (*body.all, body.first)
    exhausted = any(item.code == EXHAUSTED_ALLOWANCE for item in items)
    return failure.response.status in _RETRIED and not body.refuses_retry and not exhausted


def backoff(
    failure: Failure, attempt: int, limits: RetryLimits, random: Callable[[], float]
) -> float:
    """Returns the wait before the next attempt, in seconds.

    It is random, so that clients that failed together do not return together. It is added to
    Retry-After, so that no request comes earlier.
    """
    growth = 2.0 ** min(attempt - 1, 62)
    ceiling = min(limits.first_backoff_seconds * growth, limits.max_backoff_seconds)
    asked = failure.response.retry_after or 0.0 if isinstance(failure, Refusal) else 0.0
    return asked + ceiling * (0.5 + 0.5 * random())
