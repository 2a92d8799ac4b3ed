"""Frames of polars, pandas and Arrow, and lists of dicts, as rows and back.

The libraries are optional. Only the one whose frame a caller passes or asks for is imported.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from .frame_columns import make_column

#: A kind of table. `list` is a list of dicts, which needs no library.
FrameKind = Literal["list", "polars", "pandas", "arrow"]

_MODULES: Mapping[str, str] = {"polars": "polars", "pandas": "pandas", "arrow": "pyarrow"}
_TYPES: Mapping[str, str] = {"polars": "DataFrame", "pandas": "DataFrame", "arrow": "Table"}


def kind_of(table: object) -> FrameKind:
    """Returns the kind of a table.

    Raises TypeError if it is neither a frame nor a sequence.
    """
    kinds: tuple[Literal["polars", "pandas", "arrow"], ...] = ("polars", "pandas", "arrow")
    for kind in kinds:
        # A frame can only exist if its library is imported.
        module = sys.modules.get(_MODULES[kind])
        if module is not None and isinstance(table, getattr(module, _TYPES[kind], ())):
            return kind
    if isinstance(table, Sequence) and not isinstance(table, str | bytes):
        return "list"
    raise TypeError(
        f"{type(table).__name__} is not a table. Pass a polars or pandas frame, an Arrow table or "
        "a list of dicts."
    )


def column_names(table: Any, kind: FrameKind) -> list[str]:
    """Returns the names of a table's columns, in their order.

    Raises TypeError for a row that is no dict, and ValueError for one that `csv.DictReader` read
    from a line with more cells than the header.
    """
    if kind == "arrow":
        return list(table.column_names)
    if kind != "list":
        return [str(name) for name in table.columns]
    names: dict[str, None] = {}
    for row in table:
        if not isinstance(row, Mapping):
            raise TypeError(f"a row is a {type(row).__name__}, not a dict")
        cells = cast("Mapping[object, Any]", row)
        if None in cells:
            raise ValueError(
                f"a row has more cells than the file has columns: {cells[None]!r} is left"
            )
        names.update(dict.fromkeys(map(str, cells)))
    return list(names)


def rows_of(table: Any, kind: FrameKind) -> Iterator[Mapping[str, Any]]:
    """Yields the rows of a table as mappings, one at a time."""
    if kind == "polars":
        yield from table.iter_rows(named=True)
    elif kind == "pandas":
        names = [str(name) for name in table.columns]
        for values in table.itertuples(index=False, name=None):
            yield dict(zip(names, values, strict=True))
    elif kind == "arrow":
        for batch in table.to_batches(max_chunksize=2500):
            yield from batch.to_pylist()
    else:
        yield from table


def is_missing(value: object) -> bool:
    """Returns true for an empty cell: None, NaN, and the missing values of pandas."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in ("NAType", "NaTType")


def add_columns(
    table: Any,
    kind: FrameKind,
    columns: Mapping[str, Sequence[Any]],
    types: Mapping[str, type],
) -> Any:
    """Returns the first rows of a table with new columns, as many rows as the columns have."""
    count = len(next(iter(columns.values()), ()))
    if kind == "polars":
        made = [make_column(kind, name, cells, types[name]) for name, cells in columns.items()]
        return table.head(count).with_columns(made)
    if kind == "pandas":
        first = table.iloc[:count]
        added = {
            name: make_column(kind, name, cells, types[name], first.index)
            for name, cells in columns.items()
        }
        return first.assign(**added)
    if kind == "arrow":
        first = table.slice(0, count)
        for name, cells in columns.items():
            first = first.append_column(name, make_column(kind, name, cells, types[name]))
        return first
    return [
        {**row, **{name: cells[index] for name, cells in columns.items()}}
        for index, row in enumerate(table[:count])
    ]


def build(rows: list[dict[str, Any]], kind: FrameKind, types: Mapping[str, type]) -> Any:
    """Returns a table of rows.

    The columns of `types` are there even without a row, in this order. Other columns follow as they
    occur.

    Raises ImportError if the library of the kind is not installed, and ValueError for a kind that
    does not exist.
    """
    if kind == "list":
        return rows
    if kind not in _MODULES:
        raise ValueError(f"frame {kind!r} is not one of list, polars, pandas, arrow")
    try:
        module = importlib.import_module(_MODULES[kind])
    except ImportError as error:
        raise ImportError(
            f"frame={kind!r} needs a package: pip install {_MODULES[kind]}"
        ) from error
    names = dict.fromkeys(types)
    for row in rows:
        names.update(dict.fromkeys(cast("Mapping[str, Any]", row)))
    columns = {
        name: make_column(kind, name, [row.get(name) for row in rows], types.get(name))
        for name in names
    }
    return module.table(columns) if kind == "arrow" else module.DataFrame(columns)
