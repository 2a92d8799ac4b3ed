"""The waits between two requests about a job. The contract asks for five seconds and a backoff."""

from dataclasses import dataclass

from .clock import Clock
from .errors import JobTimeoutError
from .operation import Operation, sleep

_MAX_POLL_SECONDS = 60.0
_GROWTH = 1.5


@dataclass(frozen=True)
class WaitOptions:
    """The bounds of a wait for a job."""

    #: The longest wait, in seconds.
    timeout_seconds: float = 3600.0
    #: The first wait between two requests, in seconds. None follows the service, with at least
    #: five seconds.
    poll_seconds: float | None = None


class Polling:
    """The waits of one call: each is half as long again as the last one, up to a minute."""

    def __init__(self, clock: Clock, options: WaitOptions) -> None:
        self._clock = clock
        self._options = options
        self._deadline = clock.monotonic() + options.timeout_seconds
        self._seconds = 5.0 if options.poll_seconds is None else options.poll_seconds

    def pause(self, job_id: str, status: str, asked: float | None = None) -> Operation[None]:
        """Waits before the next request about a job of this status.

        `asked` is the wait of the response's Retry-After, in seconds. A caller's own interval
        replaces it.

        Raises JobTimeoutError if the wait would end after the timeout.
        """
        seconds = self._seconds
        if self._options.poll_seconds is None and asked is not None:
            seconds = max(seconds, asked)
        seconds *= 1 + 0.1 * self._clock.random()
        if self._clock.monotonic() + seconds > self._deadline:
            raise JobTimeoutError(job_id, status, self._options.timeout_seconds)
        yield from sleep(seconds)
        self._seconds = min(self._seconds * _GROWTH, max(_MAX_POLL_SECONDS, self._seconds))
