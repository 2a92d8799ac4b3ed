"""Tasks: cancellation, concurrency, and the two event loops."""

import asyncio
import time
from collections.abc import Callable, Coroutine
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


async def cancel(
    service: Service, call: Callable[[AsyncClient], Coroutine[Any, Any, None]]
) -> None:
    """Makes a call and cancels it, once the service has its request and the client waits."""
    async with AsyncClient(service.url, "k") as client, anyio.create_task_group() as tasks:
        tasks.start_soon(call, client)
        with anyio.fail_after(30):
            while not service.requests:
                await anyio.sleep(0.01)
            await anyio.sleep(0.1)
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_call_ends_at_once_and_is_not_repeated(backend: str) -> None:
    async def call(client: AsyncClient) -> None:
        await client.value(home(), repeat_after_loss=True)

    with Service([Answer((b"x",), wait=9), VALUED]) as service:
        anyio.run(cancel, service, call, backend=backend)
        assert service.left_early.wait(5)
        assert len(service.requests) == 1


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_wait_ends_at_once(backend: str) -> None:
    async def call(client: AsyncClient) -> None:
        await client.release()

    with Service([refusal(503, "overloaded", True, {"Retry-After": "30"}), RELEASE]) as service:
        started = time.monotonic()
        anyio.run(cancel, service, call, backend=backend)
        assert time.monotonic() - started < 25
        assert len(service.requests) == 1


def test_many_tasks_share_a_client() -> None:
    async def use(url: str) -> list[str]:
        async with AsyncClient(url, "k") as client:
            found = await asyncio.gather(*(client.value(home()) for _ in range(40)))
            return [result.status for result in found]

    with Service([VALUED] * 40) as service:
        assert asyncio.run(use(service.url)) == ["valued"] * 40
