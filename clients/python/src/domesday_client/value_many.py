"""Values any number of rows, in as many requests as the contract's limits need."""

from collections.abc import AsyncIterable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .batches import MAX_ROWS, Batcher, EncodedRow, request_body
from .errors import BatchError, DomesdayError, InvalidRequestError
from .json_body import encode, to_json_value
from .operation import END, Emit, Operation, Pull
from .results import Result, read_result
from .transport import Session
from .untyped import items_of, members_of
from .valuations import Mode, check_mode, value_batch


@dataclass(frozen=True)
class RowResult:
    """A row of the caller with its result."""

    index: int
    row: Any
    #: The result as plain JSON.
    document: dict[str, Any]

    @property
    def result(self) -> Result:
        """The result as the model of its status."""
        return read_result(self.document)


@dataclass(frozen=True)
class BatchOptions:
    """Settings of many valuations."""

    mode: Mode = "standard"
    #: Options of every row that does not have its own.
    options: object = None
    #: Most rows of a request, and never more than 2,500.
    rows_per_request: int = MAX_ROWS
    #: True if a request whose connection was lost is sent again, which may charge it twice.
    repeat_after_loss: bool = False


def value_rows(
    session: Session,
    rows: Iterable[Any] | AsyncIterable[Any],
    settings: BatchOptions,
    request_of: Callable[[Any], object] = lambda row: row,
) -> Operation[None]:
    """Emits a `RowResult` for each row, in the order of the rows.

    `request_of` makes the request of a row. Results that were emitted stay good if a later request
    fails.

    Raises BatchError with the first row without a result. Its cause is the error.
    """
    check_mode(settings.mode)
    options = None if settings.options is None else encode(to_json_value(settings.options))
    batcher = Batcher(
        overhead=len(request_body([], options)),
        max_rows=max(1, min(settings.rows_per_request, MAX_ROWS)),
    )
    iterator = rows.__aiter__() if isinstance(rows, AsyncIterable) else iter(rows)
    first = 0
    while True:
        row = yield Pull(iterator)
        if row is END:
            batch = batcher.take()
        else:
            batch = batcher.add(EncodedRow(row, encode(to_json_value(request_of(row))))) or []
        while batch:
            part = batch[: batcher.max_rows]
            results = yield from _value_part(session, part, options, settings, first)
            if results is None:
                batcher.max_rows = (len(part) + 1) // 2
                continue
            for offset, (entry, document) in enumerate(zip(part, results, strict=True)):
                yield Emit(RowResult(first + offset, entry.row, document))
            first += len(part)
            batch = batch[len(part) :]
        if row is END:
            return


def _value_part(
    session: Session,
    part: list[EncodedRow],
    options: bytes | None,
    settings: BatchOptions,
    first: int,
) -> Operation[list[Any] | None]:
    """Returns a result for each row, or None if fewer rows may be accepted."""
    count = len(part)
    try:
        answer = yield from value_batch(
            session, part, options, settings.mode, settings.repeat_after_loss
        )
        results = items_of(members_of(answer).get("results"))
        if len(results) != count:
            number = len(results) or "no"
            raise DomesdayError(f"the response has {number} results for {count} rows")
        return results
    except DomesdayError as error:
        # The service refuses a request that is too large before it charges a unit.
        if isinstance(error, InvalidRequestError) and error.status == 413 and count > 1:
            return None
        raise BatchError(first, count, error) from error
