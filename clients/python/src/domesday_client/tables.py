"""One run of `value_many`: from a table to requests, and from results to a table of its kind."""

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .columns import (
    Place,
    check_cells,
    check_collisions,
    column_places,
    make_request,
    result_columns,
    result_types,
)
from .frames import FrameKind, add_columns, column_names, kind_of, rows_of
from .operation import Operation
from .rejections import RejectionWarning, find_rejection
from .transport import Session
from .value_many import BatchOptions, RowResult, value_rows

#: A polars or pandas frame, an Arrow table or a list of dicts.
Table = TypeVar("Table")


@dataclass
class TableRun:
    """A table of homes with the results that arrived so far."""

    table: Any
    kind: FrameKind
    places: Mapping[str, Place]
    settings: BatchOptions
    prefix: str
    with_documents: bool
    documents: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def operation(self, session: Session) -> Operation[None]:
        """Returns the operation that values the rows."""
        rows: Iterator[Any] = rows_of(self.table, self.kind)
        return value_rows(session, rows, self.settings, lambda row: make_request(row, self.places))

    def add(self, row: RowResult) -> None:
        """Takes the next result."""
        self.documents.append(row.document)

    def finish(self) -> Any:
        """Returns the rows that have results, with the result's columns added."""
        columns = result_columns(self.documents, self.prefix, self.with_documents)
        return add_columns(self.table, self.kind, columns, result_types(self.prefix))

    def warn(self) -> None:
        """Warns the caller of the client's method if every row was rejected."""
        rejection = find_rejection(self.documents, self.places)
        if rejection is not None:
            warnings.warn(rejection, RejectionWarning, stacklevel=3)


def table_run(
    table: Any,
    settings: BatchOptions,
    keep: Collection[str],
    prefix: str,
    with_documents: bool,
) -> TableRun:
    """Returns the run of a table.

    `keep` may be the name of a single column.

    Raises TypeError for an object that is not a table, and ValueError for a column that is neither
    a field nor kept, or that has the name of a result's column. Raises CellError for a cell that is
    no value of its field.
    """
    kind = kind_of(table)
    names = column_names(table, kind)
    check_collisions(names, prefix)
    places = column_places(names, settings.mode, [keep] if isinstance(keep, str) else keep)
    check_cells(rows_of(table, kind), places)
    return TableRun(table, kind, places, settings, prefix, with_documents)
