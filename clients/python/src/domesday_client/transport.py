"""Sends a request: waits for the rate limit, and retries where the contract allows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .cache import DiskCache
from .clock import Clock
from .error_body import parse_error_body
from .errors import ConnectionError, ErrorResponse, ResponseError, api_error
from .operation import (
    LostConnection,
    NoConnection,
    Operation,
    Request,
    Response,
    Send,
    block,
    sleep,
)
from .rate_limit import RateLimitGate
from .retry_after import retry_after
from .retry_policy import Failure, Loss, Refusal, RetryLimits, backoff, may_retry

#: The code of a refusal by a service that has too much to do.
OVERLOADED = "overloaded"


@dataclass(frozen=True)
class CallKind:
    """The effect of a call on the service, which decides if it may be sent again."""

    #: True if a second request of a call whose connection was lost does no harm.
    repeatable: bool
    #: True if the service charges units for the call.
    charges: bool
    #: True if the caller reads a successful body itself, as it arrives.
    streamed: bool = False
    #: True if the service may have accepted a call that it refuses as overloaded.
    unclear_overload: bool = False

    def may_be_charged(self, failure: Failure) -> bool:
        """Returns true if the service may have charged an attempt that failed.

        A proxy in front of it answers 502 and 504 without knowing what the service did.
        """
        if not self.charges:
            return False
        if isinstance(failure, Loss):
            return failure.sent
        status, first = failure.response.status, failure.response.body.first
        if status == 503:
            return self.unclear_overload and first is not None and first.code == OVERLOADED
        return status > 500


#: A query, which costs no units.
QUERY = CallKind(repeatable=True, charges=False)
#: A query whose body is read as it arrives.
STREAMED_QUERY = CallKind(repeatable=True, charges=False, streamed=True)
#: A job's submission: its idempotency key makes a second one harmless.
SUBMISSION = CallKind(repeatable=True, charges=True, unclear_overload=True)


def valuation(repeat_after_loss: bool) -> CallKind:
    """Returns the kind of a synchronous valuation. Only the caller can allow a repetition."""
    return CallKind(repeatable=repeat_after_loss, charges=True)


@dataclass
class Session:
    """The settings that the calls of a client share."""

    clock: Clock
    limits: RetryLimits
    cache: DiskCache | None
    gate: RateLimitGate = field(default_factory=RateLimitGate)


def exchange(session: Session, request: Request, kind: CallKind) -> Operation[Response]:
    """Sends a request, again where the contract allows it, and returns a successful response.

    Raises ApiError for a response of any other status, and ConnectionError without a complete
    response.
    """
    budget = session.limits.max_wait_seconds
    may_be_charged = sent = False
    attempt = 0
    while True:
        attempt += 1
        delay = session.gate.delay(session.clock.monotonic())
        if 0 < delay <= budget:
            yield from sleep(delay)
            budget -= delay
        outcome = yield from _attempt(session, request, kind)
        if isinstance(outcome, Response):
            return outcome
        lost = isinstance(outcome, Loss) and outcome.sent
        may_be_charged = may_be_charged or kind.may_be_charged(outcome)
        sent = sent or lost or isinstance(outcome, Refusal)
        wait = backoff(outcome, attempt, session.limits, session.clock.random)
        ends = attempt >= session.limits.max_attempts or wait > budget
        if ends or not may_retry(outcome, kind.repeatable):
            if isinstance(outcome, Loss):
                raise ConnectionError(may_be_charged, attempt, sent) from outcome.cause
            raise api_error(outcome.response, attempt, may_be_charged)
        budget -= wait
        yield from sleep(wait)


def _attempt(session: Session, request: Request, kind: CallKind) -> Operation[Response | Failure]:
    try:
        response: Response = yield Send(request, kind.streamed)
    except LostConnection as error:
        return Loss(error.__cause__ or error, not isinstance(error, NoConnection))
    session.gate.update(response.headers, session.clock.monotonic())
    unchanged = response.status == 304 and "if-none-match" in request.headers
    if 200 <= response.status < 300 or unchanged:
        return response
    return refusal_of(response, session.clock.now())


def refusal_of(response: Response, now: float) -> Refusal:
    """Returns an error response as the policy reads it. `now` is in seconds since 1970."""
    return Refusal(
        ErrorResponse(
            status=response.status,
            request_id=response.request_id,
            retry_after=retry_after(response.headers, now),
            body=parse_error_body(response.body),
        )
    )


def call(session: Session, request: Request, kind: CallKind) -> Operation[Any]:
    """Makes a call and returns the JSON of its response.

    Raises ResponseError if the body is empty or not JSON, and the errors of `exchange`.
    """
    response = yield from exchange(session, request, kind)
    return parse_json(response)


def query(session: Session, path: str, parameters: Mapping[str, str]) -> Operation[Any]:
    """Reads a route, and returns the JSON of its response.

    With a cache, the request names the stored entity tag, and a response 304 gives the stored body.
    """
    request = Request("GET", path, tuple(parameters.items()))
    cache = session.cache
    if cache is None:
        return (yield from call(session, request, QUERY))
    stored = yield from block(lambda: cache.load(request))
    if stored is not None:
        headers = {"if-none-match": stored.etag}
        request = Request(request.method, path, request.query, headers=headers)
    response = yield from exchange(session, request, QUERY)
    if response.status == 304 and stored is not None:
        return parse_json(Response(200, response.headers, stored.body))
    answer = parse_json(response)
    etag = response.headers.get("etag")
    if etag is not None:
        yield from block(lambda: cache.store(request, etag, response.body))
    return answer


def parse_json(response: Response) -> Any:
    """Returns the JSON of a response.

    Raises ResponseError if the body is empty, not JSON, or null.
    """
    try:
        value = json.loads(response.body)
    except (ValueError, RecursionError) as error:
        raise ResponseError(response.status, response.request_id) from error
    if value is None:
        raise ResponseError(response.status, response.request_id)
    return value
