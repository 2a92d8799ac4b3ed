"""The steps of a call, apart from input and output.

A call is a generator that yields effects, such as a request to send or a wait. A driver performs
each effect, blocking or in a task, and returns its outcome to the generator. The rules of the
client therefore stand in one place for `Client` and `AsyncClient`.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


class LostConnection(Exception):
    """An attempt without a complete response, as a driver reports it to an operation."""


class NoConnection(LostConnection):
    """An attempt that never had a connection, so that no byte of the request was sent."""


@dataclass(frozen=True)
class Request:
    """A request of the service. The driver adds the address and the key."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Response:
    """A response with the names of its headers in lower case."""

    status: int
    headers: Mapping[str, str]
    #: The whole body, or nothing if the body is read as it arrives.
    body: bytes = field(default=b"", repr=False)
    #: The driver's handle of a body that is read as it arrives.
    stream: Any = field(default=None, repr=False)

    @property
    def request_id(self) -> str | None:
        """`X-Service-Request-Id`, which the service logs too."""
        return self.headers.get("x-service-request-id")


@dataclass(frozen=True)
class Send:
    """Sends a request. The outcome is a `Response`, or `LostConnection` is raised."""

    request: Request
    #: True if the body of a response of status 200 is read as it arrives.
    streamed: bool


@dataclass(frozen=True)
class Sleep:
    """Waits."""

    seconds: float


@dataclass(frozen=True)
class Read:
    """Reads the next bytes of a body, empty at its end. `LostConnection` is raised for a cut."""

    response: Response


@dataclass(frozen=True)
class Close:
    """Returns the connection of a body that is read as it arrives."""

    response: Response


@dataclass(frozen=True)
class Block:
    """Calls a function that may wait for a disk."""

    function: Callable[[], Any]


@dataclass(frozen=True)
class Pull:
    """Takes the next item of a caller's iterator. The outcome is `END` after the last one."""

    iterator: Any


@dataclass(frozen=True)
class Emit:
    """Yields an item to the caller."""

    item: Any


Effect = Send | Sleep | Read | Close | Block | Pull | Emit
Operation = Generator[Effect, Any, T]

#: The outcome of `Pull` after the last item.
END = object()


def sleep(seconds: float) -> Operation[None]:
    """Waits this many seconds."""
    yield Sleep(seconds)


def block(function: Callable[[], T]) -> Operation[T]:
    """Calls a function that may wait for a disk, and returns its outcome."""
    outcome: T = yield Block(function)
    return outcome
