"""The errors that the client raises. Each is a class with the facts in it."""

from dataclasses import dataclass
from typing import Any

from .error_body import ErrorItem, ErrorSummary

#: The code of a month's allowance that is used up.
EXHAUSTED_ALLOWANCE = "monthly_valuation_quota_exceeded"


class DomesdayError(Exception):
    """The base of every error that this client raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructors take facts, not the message, so an error is restored by its members.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(
    kind: type[DomesdayError], args: tuple[object, ...], members: dict[str, object]
) -> DomesdayError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


@dataclass(frozen=True)
class ErrorResponse:
    """The facts of a response that is an error."""

    status: int
    request_id: str | None
    #: Seconds.
    retry_after: float | None
    body: ErrorSummary


class ApiError(DomesdayError):
    """A response that is an error. `code` may be one that this client does not know."""

    #: HTTP status.
    status: int
    #: The code that programs branch on. It is empty if the body has none.
    code: str
    #: The message of the first error.
    message: str
    #: JSON Pointer (v3) or name of the parameter (v1) of the first error.
    pointer: str | None
    #: `X-Service-Request-Id`, which the service logs too.
    request_id: str | None
    #: False if the same request cannot succeed later; None if the body does not say.
    retryable: bool | None
    #: Every error of the request, the first one included.
    errors: tuple[ErrorItem, ...]
    #: True if the service may have charged an attempt. It lost its connection, or a proxy ended it
    #: (502, 504), or it was a submission that ended as overloaded. Reconcile before a repeat.
    may_be_charged: bool
    #: Number of requests that the client sent.
    attempts: int
    #: The wait that the response asks for, in seconds.
    retry_after: float | None

    def __init__(self, response: ErrorResponse, attempts: int, may_be_charged: bool) -> None:
        first = response.body.first or ErrorItem("", "", None, None)
        where = f" at {first.pointer}" if first.pointer else ""
        request = f" (request {response.request_id})" if response.request_id else ""
        code = first.code or "without a code"
        super().__init__(f"HTTP {response.status} {code}{where}: {first.message}{request}")
        self.status = response.status
        self.code = first.code
        self.message = first.message
        self.pointer = first.pointer
        self.request_id = response.request_id
        self.retryable = False if response.body.refuses_retry else first.retryable
        self.errors = response.body.all
        self.may_be_charged = may_be_charged
        self.attempts = attempts
        self.retry_after = response.retry_after


class InvalidRequestError(ApiError):
    """400, 413, 415 or 422: the request is wrong, and wrong again if repeated."""


class AuthenticationError(ApiError):
    """401: the key is missing or unknown."""


class AccessError(ApiError):
    """403: the key or the plan does not allow the request."""


class NotFoundError(ApiError):
    """404: the job, the release or the route does not exist."""


class ConflictError(ApiError):
    """409: the idempotency key belongs to another body, or its time is over."""


class LimitError(ApiError):
    """429: a limit of requests or of capacity, after the last attempt."""


class AllowanceError(LimitError):
    """429 `monthly_valuation_quota_exceeded`: the allowance of the month is used up."""


class ServiceError(ApiError):
    """5xx: the service failed, after the last attempt."""


_CLASSES: dict[int, type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: AccessError,
    404: NotFoundError,
    409: ConflictError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    422: InvalidRequestError,
    429: LimitError,
}


def api_error(response: ErrorResponse, attempts: int, may_be_charged: bool) -> ApiError:
    """Returns the error of the class of this status and code."""
    first = response.body.first
    kind = _CLASSES.get(response.status, ServiceError if response.status >= 500 else ApiError)
    if first is not None and first.code == EXHAUSTED_ALLOWANCE:
        kind = AllowanceError
    return kind(response, attempts, may_be_charged)


class ConnectionError(DomesdayError):
    """No complete response arrived: the connection failed, or an attempt took too long."""

    #: True if the service may have valued and charged the request all the same. Reconcile before
    #: you repeat it. False if no attempt had a connection.
    may_be_charged: bool
    #: Number of requests that the client sent.
    attempts: int

    def __init__(self, may_be_charged: bool, attempts: int, sent: bool = True) -> None:
        charge = " The service may have charged it: reconcile first." if may_be_charged else ""
        super().__init__(
            f"no complete response after {attempts} attempt(s).{charge}"
            if sent
            else f"no connection in {attempts} attempt(s): nothing was sent, and nothing is charged"
        )
        self.may_be_charged = may_be_charged
        self.attempts = attempts


class ResponseError(DomesdayError):
    """A success whose body is not the expected JSON, as of a proxy in between. It is charged."""

    status: int
    request_id: str | None

    def __init__(self, status: int, request_id: str | None) -> None:
        super().__init__(f"HTTP {status}: the body is not the expected JSON")
        self.status = status
        self.request_id = request_id


class BatchError(DomesdayError):
    """Part of `value_many` that failed. Its `__cause__` is the error of the request."""

    #: Index of the first row without a result.
    first_row: int
    #: Number of rows in the failed request.
    row_count: int
    #: The rows before `first_row` with their results, in the form of `value_many`. None if the
    #: caller received them one by one.
    completed: Any

    def __init__(self, first_row: int, row_count: int, cause: BaseException) -> None:
        last = first_row + row_count - 1
        super().__init__(f"rows {first_row} to {last} have no results: {cause}")
        self.first_row = first_row
        self.row_count = row_count
        self.completed = None


@dataclass(frozen=True)
class CellFault:
    """A cell of a table that is no value of its field."""

    #: Index of the row, from 0.
    row: int
    column: str
    value: Any
    #: What is wrong with the value.
    message: str

    def __str__(self) -> str:
        text = repr(self.value)
        shown = text if len(text) <= 60 else f"{text[:59]}…"
        return f"row {self.row}, column {self.column!r}: {shown} {self.message}"


class CellError(DomesdayError, ValueError):
    """Cells of a table that are no values of their fields. Nothing was sent."""

    #: The first of them, at most one of each row.
    faults: list[CellFault]
    #: Number of rows that have such a cell.
    row_count: int

    def __init__(self, faults: list[CellFault], row_count: int) -> None:
        listed = "; ".join(map(str, faults))
        others = row_count - len(faults)
        more = f"; and {others} more row(s)" if others else ""
        super().__init__(f"nothing was sent, because of {listed}{more}")
        self.faults = faults
        self.row_count = row_count


class JobFailedError(DomesdayError):
    """A job that ended as failed. A new job needs another label, so that it has another key."""

    job_id: str
    code: str
    #: True if a new job of the same rows may succeed.
    retryable: bool

    def __init__(self, job_id: str, code: str, message: str, retryable: bool) -> None:
        super().__init__(f"job {job_id} failed: {code}: {message}")
        self.job_id = job_id
        self.code = code
        self.retryable = retryable


class JobTimeoutError(DomesdayError):
    """A job that did not end within the given time. It goes on at the service."""

    job_id: str
    #: The last known status.
    status: str

    def __init__(self, job_id: str, status: str, timeout_seconds: float) -> None:
        super().__init__(
            f"job {job_id} is {status} after {timeout_seconds:g} seconds. Call wait again later."
        )
        self.job_id = job_id
        self.status = status
