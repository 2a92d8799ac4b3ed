"""The deadline of an attempt on blocking sockets.

A timeout of httpx bounds each read of a socket, not their sum. A service that sends a byte a
minute would never end. The streams here shorten each timeout to the rest of the attempt.
"""

import socket
import ssl
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

_ENDS_AT: ContextVar[float | None] = ContextVar("ends_at", default=None)
# A write is divided, so that the rest of the time is looked at between the parts. A writable socket
# takes a part of this size whole. It would take a larger one in pieces, each with the timeout anew.
_WRITE_BYTES = 4_096


@contextmanager
def deadline(seconds: float) -> Generator[None]:
    """Bounds all reads and writes of this thread within the block."""
    token = _ENDS_AT.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ENDS_AT.reset(token)


def _rest(timeout: float | None, error: type[Exception]) -> float | None:
    """Returns the shorter of a timeout and the rest of the attempt, in seconds."""
    ends_at = _ENDS_AT.get()
    if ends_at is None:
        return timeout
    rest = ends_at - time.monotonic()
    if rest <= 0:
        raise error("the attempt took too long")
    return rest if timeout is None else min(timeout, rest)


def _resolve(host: str, port: int) -> list[str]:
    """Returns the addresses of a host as texts.

    Raises ConnectError if the name has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(error) from error
    return [_address_text(address) for *_, address in found]


def _address_text(address: tuple[Any, ...]) -> str:
    """Returns an address as text, with the interface if it is known at one alone."""
    match address:
        case (text, _, _, interface) if interface:
            return f"{text}%{interface}"
        case _:
            return str(address[0])


class BoundedStream(httpcore2.NetworkStream):
    """A stream whose reads and writes end with the attempt."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Reads bytes before the attempt ends."""
        return self._stream.read(max_bytes, _rest(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Writes bytes before the attempt ends."""
        for start in range(0, len(buffer), _WRITE_BYTES):
            part = buffer[start : start + _WRITE_BYTES]
            self._stream.write(part, _rest(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        """Closes the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Starts TLS before the attempt ends."""
        rest = _rest(timeout, httpcore2.ConnectTimeout)
        return BoundedStream(self._stream.start_tls(ssl_context, server_hostname, rest))

    def get_extra_info(self, info: str) -> Any:
        """Returns a fact about the connection."""
        return self._stream.get_extra_info(info)


class BoundedBackend(httpcore2.NetworkBackend):
    """Connections whose reads and writes end with the attempt."""

    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connects before the attempt ends, to the first address of the host that answers."""
        # Python applies the timeout of a connection to each address of a name anew. A backend of
        # the caller may know names that this machine does not.
        resolves = isinstance(self._backend, httpcore2.SyncBackend)
        failure: Exception | None = None
        for address in _resolve(host, port) if resolves else [host]:
            rest = _rest(timeout, httpcore2.ConnectTimeout)
            try:
                stream = self._backend.connect_tcp(
                    address, port, rest, local_address, socket_options
                )
                return BoundedStream(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore2.ConnectError(f"{host} has no address")

    def sleep(self, seconds: float) -> None:
        """Blocks the thread."""
        self._backend.sleep(seconds)


def bound_connections(http: httpx2.Client) -> None:
    """Gives the connections of a client, those through proxies included, the attempt's deadline.

    httpx has no argument for a backend, so this sets the one of its pools. A pool without one, as
    of a caller's own transport, stays as it is.
    """
    mounts = getattr(http, "_mounts", {})
    for transport in (getattr(http, "_transport", None), *mounts.values()):
        pool = getattr(transport, "_pool", None)
        backend = getattr(pool, "_network_backend", None)
        if pool is not None and isinstance(backend, httpcore2.NetworkBackend):
            pool._network_backend = BoundedBackend(backend)
