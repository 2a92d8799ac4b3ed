"""The tests' clock, homes of the demo, and one way to call the blocking and the async client."""

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal

from domesday_client import AsyncClient, Client

CLIENTS = Path(__file__).resolve().parents[2]
MAX_ITEMS = 100_000


class InstantClock:
    """A clock whose waits take no time. It keeps them, in seconds."""

    def __init__(self, chance: float = 0.5) -> None:
        self.time = datetime(2026, 10, 15, 12, tzinfo=UTC).timestamp()
        self.waits: list[float] = []
        self.chance = chance

    def now(self) -> float:
        """Returns the time that only waits move."""
        return self.time

    def monotonic(self) -> float:
        """Returns the time that only waits move."""
        return self.time

    def random(self) -> float:
        """Returns the same number always."""
        return self.chance

    def sleep(self, seconds: float) -> None:
        """Notes a wait."""
        self.waits.append(seconds)
        self.time += seconds

    async def sleep_async(self, seconds: float) -> None:
        """Notes a wait."""
        self.sleep(seconds)


class Harness:
    """Calls of one of the two clients. Outcomes of the async one are awaited in a thread."""

    def __init__(self, kind: type[Client] | type[AsyncClient], portal: BlockingPortal) -> None:
        self.kind = kind
        self._portal = portal
        self._clients: list[Any] = []

    def client(self, base_url: str, api_key: str = "secret", **options: Any) -> Any:
        """Returns a client, which the end of the test closes."""
        client = self.kind(base_url, api_key, **options)
        self._clients.append(client)
        return client

    def get(self, outcome: Any) -> Any:
        """Returns the outcome of a call."""
        if not isinstance(outcome, Awaitable):
            return outcome

        async def wait() -> Any:
            return await outcome

        return self._portal.call(wait)

    def items(self, iterator: Any) -> Iterator[Any]:
        """Yields the items of a call."""
        if not isinstance(iterator, AsyncIterator):
            yield from iterator
            return
        end = object()

        async def advance() -> Any:
            return await anext(iterator, end)

        for _ in range(MAX_ITEMS):
            item = self._portal.call(advance)
            if item is end:
                return
            yield item

    def stop(self, iterator: Any) -> None:
        """Ends an iteration before its last item."""
        if isinstance(iterator, AsyncGenerator):
            self.get(iterator.aclose())
        else:
            iterator.close()

    def close(self) -> None:
        """Closes the clients."""
        for client in self._clients:
            self.get(client.close())


def home(building: str = "15", **members: Any) -> dict[str, Any]:
    """Returns a home of the demo, at a building of its street."""
    return {
        "property": {
            "valuation_date": "2026-10-15",
            "postcode": "QA1 1AF",
            "building_number_or_name": building,
            "street": "Badger Yard Gardens",
            "type": "S",
            "subtype": "house_semi_detached",
            "title_tenure": "freehold",
        },
        "occupancy": {"status": "owner_occupied"},
        "size": {"floor_area_m2": 104.5, "bedrooms": 3},
        **members,
    }


def flat_home(building: str = "15", **members: Any) -> dict[str, Any]:
    """Returns the same home as a row of columns."""
    return {
        "valuation_date": "2026-10-15",
        "postcode": "QA1 1AF",
        "building_number_or_name": building,
        "street": "Badger Yard Gardens",
        "type": "S",
        "subtype": "house_semi_detached",
        "title_tenure": "freehold",
        "occupancy": "owner_occupied",
        "floor_area_m2": 104.5,
        "bedrooms": 3,
        **members,
    }


def site() -> dict[str, Any]:
    """Returns a site of the demo on which a house is to be built."""
    return {
        "property": {
            "valuation_date": "2026-10-15",
            "postcode": "QA1 1AF",
            "site_latitude": 55.60702,
            "site_longitude": -2.21319,
            "type": "D",
            "subtype": "house_detached",
            "title_tenure": "freehold",
        },
        "occupancy": {"status": "vacant"},
        "size": {"floor_area_m2": 128, "bedrooms": 4, "living_rooms": 2, "storeys": 2},
    }


def shared_file(name: str) -> Any:
    """Parses a file that all clients share."""
    return json.loads((CLIENTS / name).read_text(encoding="utf-8"))


def demo_server() -> tuple[str, str] | None:
    """Returns the address and the key of the demo server, if the environment names it."""
    url, key = os.environ.get("DOMESDAY_URL"), os.environ.get("DOMESDAY_KEY")
    return (url, key) if url and key else None
