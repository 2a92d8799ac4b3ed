"""Performs the effects of operations with blocking calls."""

from collections.abc import Generator, Iterator
from typing import Any, TypeVar

import httpx2

from .clock import Clock
from .deadline import bound_connections, deadline
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


class SyncDriver:
    """Runs operations in the caller's thread."""

    def __init__(self, http: httpx2.Client, clock: Clock, attempt_timeout: float) -> None:
        bound_connections(http)
        self.http = http
        self._clock = clock
        self._attempt_timeout = attempt_timeout

    def run(self, operation: Operation[T]) -> T:
        """Runs an operation that emits nothing, and returns its outcome."""
        iteration = self.iterate(operation)
        try:
            while True:
                next(iteration)
        except StopIteration as stop:
            outcome: T = stop.value
            return outcome

    def iterate(self, operation: Operation[T]) -> Generator[Any, None, T]:
        """Runs an operation, yields the items that it emits, and returns its outcome.

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
                    result: T = stop.value
                    return result
                outcome, error = None, None
                if isinstance(effect, Emit):
                    yield effect.item
                    continue
                try:
                    outcome = self._perform(effect, bodies)
                except Exception as raised:
                    error = raised
        finally:
            operation.close()
            for body in bodies.values():
                body.close()

    def _perform(self, effect: Effect, bodies: dict[int, httpx2.Response]) -> Any:
        match effect:
            case Send():
                return self._send(effect, bodies)
            case Sleep(seconds):
                return self._clock.sleep(seconds)
            case Read(response):
                return self._read(response)
            case Close(response):
                body, _ = response.stream
                bodies.pop(id(body), None)
                return body.close()
            case Block(function):
                return function()
            case Pull(iterator):
                return next(iterator, END)
            case Emit():
                raise AssertionError(f"{effect} is for the caller")

    def _send(self, effect: Send, bodies: dict[int, httpx2.Response]) -> Response:
        try:
            with deadline(self._attempt_timeout):
                body = self.http.send(build(self.http, effect.request), stream=True)
                headers = headers_of(body)
                if effect.streamed and body.status_code == 200:
                    bodies[id(body)] = body
                    return Response(200, headers, stream=(body, body.iter_bytes()))
                try:
                    return Response(body.status_code, headers, body.read())
                finally:
                    body.close()
        except httpx2.RequestError as error:
            raise loss_of(error) from error

    def _read(self, response: Response) -> bytes:
        chunks: Iterator[bytes] = response.stream[1]
        try:
            with deadline(self._attempt_timeout):
                return next(chunks, b"")
        except (httpx2.RequestError, httpx2.StreamError) as error:
            raise LostConnection from error
