"""Performs the effects of operations in a task of asyncio or trio."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, TypeVar

import anyio
import httpx2

from .clock import Clock
from .messages import build, headers_of, loss_of
from .operation import (
    END,
    Block,
    Close,
    Effect,
    Emit,
    LostConnection,
    Operation,
    Pull,
    Read,
    Response,
    Send,
    Sleep,
)

T = TypeVar("T")


class AsyncDriver:
    """Runs operations in the caller's task."""

    def __init__(self, http: httpx2.AsyncClient, clock: Clock, attempt_timeout: float) -> None:
        self.http = http
        self._clock = clock
        self._attempt_timeout = attempt_timeout

    async def run(self, operation: Operation[T]) -> T:
        """Runs an operation that emits nothing, and returns its outcome."""
        outcomes: list[T] = []
        async for item in self.iterate(operation, outcomes):
            raise AssertionError(f"an operation without items emitted {item}")
        return outcomes[0]

    async def iterate(
        self, operation: Operation[T], outcomes: list[T] | None = None
    ) -> AsyncGenerator[Any, None]:
        """Runs an operation, and yields the items that it emits. `outcomes` receives its outcome.

        A caller that stops early closes the generator, which returns the connections.
        """
        bodies: dict[int, httpx2.Response] = {}
        outcome: Any = None
        error: Exception | None = None
        try:
            while True:
                try:
                    effect = operation.send(outcome) if error is None else operation.throw(error)
                except StopIteration as stop:
                    if outcomes is not None:
                        outcomes.append(stop.value)
                    return
                outcome, error = None, None
                if isinstance(effect, Emit):
                    yield effect.item
                    continue
                try:
                    outcome = await self._perform(effect, bodies)
                except Exception as raised:
                    error = raised
        finally:
            operation.close()
            for body in bodies.values():
                with anyio.CancelScope(shield=True):
                    await body.aclose()

    async def _perform(self, effect: Effect, bodies: dict[int, httpx2.Response]) -> Any:
        match effect:
            case Send():
                return await self._send(effect, bodies)
            case Sleep(seconds):
                return await self._clock.sleep_async(seconds)
            case Read(response):
                return await self._read(response)
            case Close(response):
                body, _ = response.stream
                bodies.pop(id(body), None)
                return await body.aclose()
            case Block(function):
                return await anyio.to_thread.run_sync(function)
            case Pull(iterator):
                if hasattr(iterator, "__anext__"):
                    return await anext(iterator, END)
                return next(iterator, END)
            case Emit():
                raise AssertionError(f"{effect} is for the caller")

    async def _send(self, effect: Send, bodies: dict[int, httpx2.Response]) -> Response:
        try:
            with anyio.fail_after(self._attempt_timeout):
                body = await self.http.send(build(self.http, effect.request), stream=True)
                headers = headers_of(body)
                if effect.streamed and body.status_code == 200:
                    bodies[id(body)] = body
                    return Response(200, headers, stream=(body, body.aiter_bytes()))
                try:
                    return Response(body.status_code, headers, await body.aread())
                finally:
                    await body.aclose()
        except (httpx2.RequestError, TimeoutError) as error:
            raise loss_of(error) from error

    async def _read(self, response: Response) -> bytes:
        chunks: AsyncIterator[bytes] = response.stream[1]
        try:
            with anyio.fail_after(self._attempt_timeout):
                return await anext(chunks, b"")
        except (httpx2.RequestError, httpx2.StreamError, TimeoutError) as error:
            raise LostConnection from error
