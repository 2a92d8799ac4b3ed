"""Frames of polars, pandas and Arrow, and lists of dicts, as rows and back.

The libraries are optional. Only the one whose frame a caller passes or asks for is imported.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

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
    """Returns the names of a table's columns, in their order."""
    if kind == "arrow":
        return list(table.column_names)
    if kind != "list":
        return [str(name) for name in table.columns]
    names: dict[str, None] = {}
    for row in table:
        if not isinstance(row, Mapping):
            raise TypeError(f"a row is a {type(row).__name__}, not a dict")
        names.update(dict.fromkeys(row))
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


def add_columns(table: Any, kind: FrameKind, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Returns the first rows of a table with new columns, as many rows as the columns have."""
    count = len(next(iter(columns.values()), ()))
    if kind == "polars":
        import polars

        series = [polars.Series(name, values, strict=False) for name, values in columns.items()]
        return table.head(count).with_columns(series)
    if kind == "pandas":
        import pandas

        first = table.iloc[:count]
        added = {
            name: pandas.Series(list(values), index=first.index, dtype=_pandas_type(values))
            for name, values in columns.items()
        }
        return first.assign(**added)
    if kind == "arrow":
        first = table.slice(0, count)
        for name, values in columns.items():
            first = first.append_column(name, [list(values)])
        return first
    return [
        {**row, **{name: values[index] for name, values in columns.items()}}
        for index, row in enumerate(table[:count])
    ]


def _pandas_type(values: Sequence[Any]) -> str:
    """Returns a type of pandas that keeps whole numbers beside missing ones."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "Int64"
    return "Float64" if kinds and kinds <= {int, float} else "object"


def build(rows: list[dict[str, Any]], kind: FrameKind, columns: Mapping[str, type]) -> Any:
    """Returns a table of rows.

    `columns` are there even without a row, in this order and of these types. Other columns follow
    as they occur.

    Raises ImportError if the library of the kind is not installed, and ValueError for a kind that
    does not exist.
    """
    names = dict.fromkeys(columns)
    for row in rows:
        names.update(dict.fromkeys(row))
    if kind == "list":
        return rows
    values = {name: [_cell(row.get(name), columns.get(name)) for row in rows] for name in names}
    if kind == "polars":
        try:
            import polars
        except ImportError as error:
            _missing(kind, error)
        types = {str: polars.String, float: polars.Float64, int: polars.Int64}
        series = [
            polars.Series(name, cells, dtype=types.get(columns.get(name, object)), strict=False)
            for name, cells in values.items()
        ]
        return polars.DataFrame(series)
    if kind == "pandas":
        try:
            import pandas
        except ImportError as error:
            _missing(kind, error)
        return pandas.DataFrame(values, columns=list(names))
    if kind == "arrow":
        try:
            import pyarrow
        except ImportError as error:
            _missing(kind, error)
        known = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64()}
        arrays = {
            name: pyarrow.array(cells, type=known.get(columns.get(name, object)))
            for name, cells in values.items()
        }
        return pyarrow.table(arrays)
    raise ValueError(f"frame {kind!r} is not one of list, polars, pandas, arrow")


def _cell(value: Any, kind: type | None) -> Any:
    return float(value) if kind is float and isinstance(value, int) else value


def _missing(kind: str, error: ImportError) -> NoReturn:
    raise ImportError(
        f"frame={kind!r} needs a package: pip install 'domesday-client[{kind}]'"
    ) from error
