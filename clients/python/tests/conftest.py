"""Fixtures: a harness for each of the two clients, and a thread for the async one."""

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from support import Harness, demo_server

from domesday_client import AsyncClient, Client


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """Yields a thread with an event loop."""
    with start_blocking_portal() as started:
        yield started


@pytest.fixture(params=[Client, AsyncClient], ids=["sync", "async"])
def harness(request: pytest.FixtureRequest, portal: BlockingPortal) -> Iterator[Harness]:
    """Yields the harness of a client. Each test runs with both."""
    made = Harness(request.param, portal)
    yield made
    made.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the tests of a running server where the environment names none."""
    if demo_server() is None:
        skip = pytest.mark.skip(reason="DOMESDAY_URL and DOMESDAY_KEY name no server")
        for item in items:
            if item.get_closest_marker("live"):
                item.add_marker(skip)
