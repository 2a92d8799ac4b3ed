"""Attempts of the blocking client end at their deadline while they connect and write."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpcore2
import pytest
from support import home

from domesday_client import Client, ConnectionError, RetryLimits
from domesday_client.deadline import BoundedBackend, deadline

ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


@contextmanager
def silent_addresses() -> Iterator[int]:
    """Yields a port at which no address answers, because no queue has room for a connection."""
    with ExitStack() as stack:
        port = 0
        for address in ADDRESSES:
            listener = stack.enter_context(socket.socket())
            listener.bind((address, port))
            listener.listen(0)
            port = listener.getsockname()[1]
            for _ in range(3):
                filler = stack.enter_context(socket.socket())
                filler.setblocking(False)
                filler.connect_ex((address, port))
        yield port


def name_addresses(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Gives the name `several.test` these addresses."""
    resolve = socket.getaddrinfo

    def known(host: Any, *arguments: Any, **options: Any) -> list[Any]:
        hosts = addresses if host == "several.test" else [host]
        return [found for name in hosts for found in resolve(name, *arguments, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", known)


def test_an_attempt_ends_while_no_address_of_a_name_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name_addresses(monkeypatch, *ADDRESSES)
    with silent_addresses() as port:
        client = Client(
            f"http://several.test:{port}",
            "key",
            retries=RetryLimits(max_attempts=1),
            attempt_timeout=0.6,
        )
        started = time.monotonic()
        with client, pytest.raises(ConnectionError, match="nothing was sent"):
            client.value(home())
        assert 0.5 < time.monotonic() - started < 1.5


def test_an_address_that_refuses_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    name_addresses(monkeypatch, "127.0.0.2", "127.0.0.1")
    backend = BoundedBackend(httpcore2.SyncBackend())
    with socket.create_server(("127.0.0.1", 0)) as listener, deadline(5):
        port = listener.getsockname()[1]
        stream = backend.connect_tcp("several.test", port)
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", port)
        stream.close()


class NamingBackend(httpcore2.MockBackend):
    """A backend that notes the names that it is to connect to."""

    def __init__(self) -> None:
        super().__init__([])
        self.hosts: list[str] = []

    def connect_tcp(self, host: str, *arguments: Any, **options: Any) -> httpcore2.NetworkStream:
        """Notes a name."""
        self.hosts.append(host)
        return super().connect_tcp(host, *arguments, **options)


def test_a_backend_of_the_caller_resolves_names_itself() -> None:
    backend = NamingBackend()
    BoundedBackend(backend).connect_tcp("service.invalid", 80)
    assert backend.hosts == ["service.invalid"]


def test_a_write_ends_with_the_attempt_though_each_piece_of_it_is_taken() -> None:
    def read_slowly(connection: socket.socket) -> None:
        with connection:
            while connection.recv(1_024):
                time.sleep(0.05)

    small = [(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)]
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        backend = BoundedBackend(httpcore2.SyncBackend())
        port = listener.getsockname()[1]
        stream = backend.connect_tcp("127.0.0.1", port, socket_options=small)
        connection, _ = listener.accept()
        reader = threading.Thread(target=read_slowly, args=(connection,), daemon=True)
        reader.start()
        started = time.monotonic()
        with deadline(0.6), pytest.raises(httpcore2.WriteTimeout):
            stream.write(bytes(65_536))
        assert 0.5 < time.monotonic() - started < 2
        stream.close()
        reader.join(timeout=10)
