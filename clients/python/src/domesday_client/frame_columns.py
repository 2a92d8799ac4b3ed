"""Columns of polars, pandas and Arrow from plain JSON values.

A column has the type that is expected of it if all of its values fit. A later service may send
other values. The column then has another type or JSON texts, so that nothing is lost.
"""

import importlib
import json
from collections.abc import Sequence
from typing import Any, Literal

Library = Literal["polars", "pandas", "arrow"]


def make_column(
    library: Library, name: str, values: Sequence[Any], expected: type | None, index: Any = None
) -> Any:
    """Returns a column of a library. `expected` is str, int, float or bool. None is a missing cell.

    `index` is that of a pandas frame.
    """
    kind = _common_kind(values, expected)
    if kind is float:
        values = [None if value is None else float(value) for value in values]
    try:
        return _make(library, name, values, kind, index)
    except (TypeError, ValueError, OverflowError):
        texts = [
            value if value is None or isinstance(value, str) else json.dumps(value)
            for value in values
        ]
        return _make(library, name, texts, str, index)


def _common_kind(values: Sequence[Any], expected: type | None) -> type | None:
    """Returns the first kind that all values fit, the expected one before others."""
    if expected is None and all(value is None for value in values):
        return None
    kinds = [bool, int, float, str] if expected is None else [expected, bool, int, float, str]
    return next((kind for kind in kinds if all(_fits(value, kind) for value in values)), None)


def _fits(value: Any, kind: type) -> bool:
    """Returns true for a missing cell and for a value of a kind. A boolean is not a number."""
    if value is None or type(value) is kind:
        return True
    return kind is float and type(value) is int


def _make(library: Library, name: str, values: Sequence[Any], kind: type | None, index: Any) -> Any:
    if library == "polars":
        import polars

        types = {
            str: polars.String,
            int: polars.Int64,
            float: polars.Float64,
            bool: polars.Boolean,
        }
        dtype = None if kind is None else types[kind]
        series = polars.Series(name, values, dtype=dtype, strict=False)
        if series.null_count() != sum(value is None for value in values):
            raise ValueError(f"column {name!r} has a value that polars cannot hold")
        return series
    if library == "pandas":
        import pandas  # pyright: ignore[reportMissingTypeStubs]

        # These types keep whole numbers and booleans beside missing cells.
        names = {str: "object", int: "Int64", float: "Float64", bool: "boolean"}
        return pandas.Series(
            list(values), index=index, name=name, dtype="object" if kind is None else names[kind]
        )
    # No import statement, since the library has no types.
    pyarrow: Any = importlib.import_module("pyarrow")
    arrow = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
    }
    return pyarrow.array(list(values), type=None if kind is None else arrow[kind])
