"""The synchronous routes of valuations, by mode."""

from collections.abc import Mapping
from typing import Any, Literal

from .batches import EncodedRow, request_body
from .json_body import encode, to_json_value
from .operation import Operation, Request
from .results import Result, read_result
from .transport import Session, call, valuation

#: The evidence of a valuation: `simple` has none, `development` values a proposed home.
Mode = Literal["simple", "standard", "development"]

_SINGLE: Mapping[str, str] = {
    "simple": "/v3/simple-value",
    "standard": "/v3/value",
    "development": "/v3/development-value",
}
_BATCH: Mapping[str, str] = {
    "simple": "/v3/simple-batch-value",
    "standard": "/v3/batch-value",
    "development": "/v3/development-batch-value",
}


def check_mode(mode: str) -> None:
    """Raises ValueError for a mode that does not exist."""
    if mode not in _SINGLE:
        raise ValueError(f"mode {mode!r} is not one of {', '.join(_SINGLE)}")


def post(path: str, body: bytes) -> Request:
    """Returns a request with a JSON body."""
    return Request("POST", path, body=body, headers={"content-type": "application/json"})


def value_one(
    session: Session, body: object, mode: Mode, repeat_after_loss: bool
) -> Operation[Result]:
    """Values one home."""
    check_mode(mode)
    request = post(_SINGLE[mode], encode(to_json_value(body)))
    return read_result((yield from call(session, request, valuation(repeat_after_loss))))


def value_batch(
    session: Session,
    rows: list[EncodedRow],
    options: bytes | None,
    mode: Mode,
    repeat_after_loss: bool,
) -> Operation[Any]:
    """Values the rows of one request, and returns the JSON of the answer."""
    request = post(_BATCH[mode], request_body(rows, options))
    return (yield from call(session, request, valuation(repeat_after_loss)))
