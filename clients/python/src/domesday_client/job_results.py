"""Reads a job's results while they arrive: a response has no length limit."""

import json
from collections.abc import Iterator
from typing import Any

import ijson  # pyright: ignore[reportMissingTypeStubs]

from .errors import ConnectionError, ResponseError
from .jobs import job_failure, job_path, job_status
from .operation import Close, Emit, LostConnection, Operation, Read, Request, Response, sleep
from .polling import Polling, WaitOptions
from .results import read_result
from .retry_after import retry_after
from .retry_policy import Loss, backoff
from .transport import STREAMED_QUERY, Session, exchange

_RESULTS = "result.results.item"


def read_results(session: Session, job_id: object, options: WaitOptions) -> Operation[None]:
    """Emits the results of a job, once it ends.

    Raises JobFailedError if it failed, JobTimeoutError at the timeout, ConnectionError if the
    connection stays lost, and ResponseError for a body that is not JSON.
    """
    polling = Polling(session.clock, options)
    request = Request("GET", f"{job_path(job_id)}/results")
    emitted = 0
    attempt = 1
    while True:
        response = yield from exchange(session, request, STREAMED_QUERY)
        if response.status == 202:
            status = job_status(_parse_or_none(response.body))
            asked = retry_after(response.headers, session.clock.now())
            yield from polling.pause(str(job_id), status, asked)
            continue
        skipped = emitted
        document = ResultsDocument(response)
        try:
            while chunk := (yield Read(response)):
                for value in document.feed(chunk):
                    if skipped > 0:
                        skipped -= 1
                        continue
                    emitted += 1
                    attempt = 1
                    yield Emit(read_result(value))
            if not document.ended:
                raise LostConnection("the results end too early")
        except LostConnection as lost:
            yield Close(response)
            if attempt >= session.limits.max_attempts:
                raise ConnectionError(False, attempt) from lost
            wait = backoff(Loss(lost), attempt, session.limits, session.clock.random)
            yield from sleep(wait)
            attempt += 1
            continue
        yield Close(response)
        if document.status == "failed":
            raise job_failure(job_id, document.error)
        return


def _parse_or_none(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


class ResultsDocument:
    """A document of results, of which each result is complete as soon as its last byte is fed."""

    def __init__(self, response: Response) -> None:
        self._response = response
        self._events: list[tuple[str, str, Any]] = []
        self._parser = ijson.parse_coro(_Sink(self._events), use_float=True)
        self._builder: Any = None
        self._prefix = ""
        #: The status of the job, as soon as it arrived.
        self.status = ""
        #: The error of a failed job.
        self.error: Any = None
        #: True once the document is complete.
        self.ended = False

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """Takes bytes, and yields the results that they complete.

        Raises ResponseError if they are not JSON.
        """
        try:
            self._parser.send(chunk)
        except ijson.JSONError as error:
            raise ResponseError(self._response.status, self._response.request_id) from error
        events = self._events[:]
        self._events.clear()
        for prefix, event, value in events:
            if prefix == "" and event == "end_map":
                self.ended = True
            elif prefix == "status":
                self.status = str(value)
            elif self._builder is None and prefix in (_RESULTS, "error"):
                self._builder, self._prefix = ijson.ObjectBuilder(), prefix
            if self._builder is None:
                continue
            self._builder.event(event, value)
            opens = event in ("start_map", "start_array")
            if prefix != self._prefix or opens or event == "map_key":
                continue
            complete, self._builder = self._builder.value, None
            if self._prefix == "error":
                self.error = complete
            else:
                yield complete


class _Sink:
    """The target of the parser, which collects its events."""

    def __init__(self, events: list[tuple[str, str, Any]]) -> None:
        self._events = events

    def send(self, event: tuple[str, str, Any]) -> None:
        self._events.append(event)

    def close(self) -> None:
        """Ends the collection; there is nothing to release."""
