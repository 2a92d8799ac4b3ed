"""A client of Domesday: valuations of homes, market statistics and sterling rates."""

from .async_client import AsyncClient
from .client import Client
from .clock import Clock
from .error_body import ErrorItem
from .errors import (
    AccessError,
    AllowanceError,
    ApiError,
    AuthenticationError,
    BatchError,
    CellError,
    CellFault,
    ConflictError,
    ConnectionError,
    DomesdayError,
    InvalidRequestError,
    JobFailedError,
    JobTimeoutError,
    LimitError,
    NotFoundError,
    ResponseError,
    ServiceError,
)
from .frames import FrameKind
from .idempotency import idempotency_key
from .models import FailedResult, ReferredResult, RejectedResult, ValuedResult
from .rejections import RejectionWarning
from .results import Result, UnknownResult
from .retry_policy import RetryLimits
from .valuations import Mode
from .value_many import RowResult

__version__ = "0.1.0"

__all__ = [
    "AccessError",
    "AllowanceError",
    "ApiError",
    "AsyncClient",
    "AuthenticationError",
    "BatchError",
    "CellError",
    "CellFault",
    "Client",
    "Clock",
    "ConflictError",
    "ConnectionError",
    "DomesdayError",
    "ErrorItem",
    "FailedResult",
    "FrameKind",
    "InvalidRequestError",
    "JobFailedError",
    "JobTimeoutError",
    "LimitError",
    "Mode",
    "NotFoundError",
    "ReferredResult",
    "RejectedResult",
    "RejectionWarning",
    "ResponseError",
    "Result",
    "RetryLimits",
    "RowResult",
    "ServiceError",
    "UnknownResult",
    "ValuedResult",
    "idempotency_key",
]
