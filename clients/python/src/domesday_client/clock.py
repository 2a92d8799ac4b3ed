"""Time and randomness, as arguments, so that a caller can replace them."""

import random
import time
from typing import Protocol

import anyio


class Clock(Protocol):
    """A source of time, waits and random numbers. All times are in seconds."""

    def now(self) -> float:
        """Returns the seconds since 1970-01-01 UTC."""
        ...

    def monotonic(self) -> float:
        """Returns seconds that never run backwards, from any start."""
        ...

    def random(self) -> float:
        """Returns a number from 0 up to, not including, 1."""
        ...

    def sleep(self, seconds: float) -> None:
        """Blocks the thread."""
        ...

    async def sleep_async(self, seconds: float) -> None:
        """Suspends the task."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """Returns the seconds since 1970-01-01 UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Returns seconds that never run backwards."""
        return time.monotonic()

    def random(self) -> float:
        """Returns a number from 0 up to, not including, 1."""
        return random.random()

    def sleep(self, seconds: float) -> None:
        """Blocks the thread."""
        time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        """Suspends the task."""
        await anyio.sleep(seconds)
