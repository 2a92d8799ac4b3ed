"""Tasks: cancellation, concurrency, and the two event loops."""

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest
from service import Answer, Service, answer_json, refusal
from support import home

from domesday_client import AsyncClient

RELEASE = answer_json(200, {"release_id": "r"})
VALUED = answer_json(200, {"status": "valued"})


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_both_event_loops_make_calls_and_read_results(backend: str, tmp_path: Path) -> None:
    results = {"status": "completed", "result": {"results": [{"status": "valued"}] * 3}}
    answers = [
        refusal(503, "overloaded", True, {"Retry-After": "0"}),
        RELEASE,
        answer_json(200, results),
        answer_json(200, {"series": [], "next_cursor": None}, {"ETag": 'W/"t"'}),
    ]

    async def use(url: str) -> list[Any]:
        async with AsyncClient(url, "k", cache_folder=tmp_path) as client:
            release = await client.release()
            statuses = [result.status async for result in client.jobs.results("j")]
            return [release.release_id, statuses, await client.rates.series("bank_rate")]

    with Service([*answers]) as service:
        found = anyio.run(use, service.url, backend=backend)
    assert found == ["r", ["valued"] * 3, []]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_call_ends_at_once_and_is_not_repeated(backend: str) -> None:
    async def use(url: str) -> bool:
        async with AsyncClient(url, "k") as client:
            with anyio.move_on_after(0.2) as scope:
                await client.value(home(), repeat_after_loss=True)
            return scope.cancelled_caught

    with Service([Answer((b"x",), wait=9), VALUED]) as service:
        assert anyio.run(use, service.url, backend=backend)
        assert service.left_early.wait(5)
        assert len(service.requests) == 1


def test_a_cancelled_wait_ends_at_once() -> None:
    async def use(url: str) -> None:
        async with AsyncClient(url, "k") as client:
            await asyncio.wait_for(client.release(), timeout=0.2)

    with Service([refusal(503, "overloaded", True, {"Retry-After": "30"}), RELEASE]) as service:
        with pytest.raises(TimeoutError):
            asyncio.run(use(service.url))
        assert len(service.requests) == 1


def test_many_tasks_share_a_client() -> None:
    async def use(url: str) -> list[str]:
        async with AsyncClient(url, "k") as client:
            found = await asyncio.gather(*(client.value(home()) for _ in range(40)))
            return [result.status for result in found]

    with Service([VALUED] * 40) as service:
        assert asyncio.run(use(service.url)) == ["valued"] * 40
