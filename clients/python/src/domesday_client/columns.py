"""Columns of a table as members of requests, and results as columns."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from .frames import is_missing
from .models import DevelopmentRow, ExistingRow

#: The columns of a result with their types, without the prefix that a caller may choose.
RESULT_COLUMNS: Mapping[str, type] = {
    "status": str,
    "estimated_value_gbp": int,
    "lower_value_gbp": int,
    "upper_value_gbp": int,
    "nominal_coverage": float,
    "confidence_score": float,
    "confidence_band": str,
    "referral_code": str,
    "error_code": str,
    "error_field": str,
    "error_message": str,
    "error_retryable": bool,
    "release_id": str,
    "valuation_id": str,
}
#: The column of the whole result as JSON text, which a caller may ask for.
DOCUMENT_COLUMN = "document"

Path = tuple[str, ...]


def _sections(model: type[BaseModel]) -> Mapping[str, Collection[str]]:
    """Returns the members of a request, each with the members of its section, if it has one."""
    sections: dict[str, set[str]] = {}
    for name, field in model.model_fields.items():
        members = sections.setdefault(field.alias or name, set())
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                members.update(kind.model_fields)
    return sections


def column_paths(names: Sequence[str], mode: str, keep: Collection[str]) -> dict[str, Path]:
    """Returns the place in a request of each column that is sent.

    A column is a member of the request (`property`, `request_reference`), a path (`size.bedrooms`)
    or the name of a field that only one section has (`bedrooms`). `occupancy` may hold the status
    alone. Columns in `keep` are not sent.

    Raises ValueError for a column that is none of these, so that no misspelt field is left out
    unnoticed.
    """
    sections = _sections(DevelopmentRow if mode == "development" else ExistingRow)
    short: dict[str, Path | None] = {}
    for section, members in sections.items():
        # Options are left out of short names, because they are no facts of a home.
        for member in members if section != "options" else ():
            short[member] = None if member in short else (section, member)
    paths: dict[str, Path] = {}
    for name in names:
        if name in keep:
            continue
        section, _, member = name.partition(".")
        found = short.get(name)
        if name in sections:
            paths[name] = (name,)
        elif member in sections.get(section, ()):
            paths[name] = (section, member)
        elif found is not None:
            paths[name] = found
        else:
            raise ValueError(
                f"column {name!r} is not a field of a request. Name it in `keep` if it is your own."
            )
    return paths


def request_maker(paths: Mapping[str, Path]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Returns a function that makes the request of a row. Empty cells are left out."""

    def make(row: Mapping[str, Any]) -> dict[str, Any]:
        request: dict[str, Any] = {}
        for name, path in paths.items():
            value = row.get(name)
            if is_missing(value):
                continue
            if len(path) == 1:
                request[path[0]] = _section(path[0], value)
            else:
                request.setdefault(path[0], {})[path[1]] = _whole(value)
        return request

    return make


def _section(name: str, value: Any) -> Any:
    """Returns the content of a column that is a whole section, without its empty cells."""
    if name == "occupancy" and isinstance(value, str):
        return {"status": value}
    if isinstance(value, Mapping):
        members = {key: _section("", member) for key, member in value.items()}
        return {key: member for key, member in members.items() if not is_missing(member)}
    return value


def _whole(value: Any) -> Any:
    """Returns whole numbers as integers, since pandas turns a column with a gap into floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def result_cells(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the cells of a result, in the order of `RESULT_COLUMNS`."""
    valuation = _object(document.get("valuation"))
    interval = _object(valuation.get("range"))
    confidence = _object(document.get("confidence"))
    referral = _object(document.get("referral"))
    errors = document.get("errors")
    error = _object(errors[0]) if isinstance(errors, list) and errors else {}
    return (
        document.get("status"),
        valuation.get("estimated_value_gbp"),
        interval.get("lower_value_gbp"),
        interval.get("upper_value_gbp"),
        interval.get("nominal_coverage"),
        confidence.get("score"),
        confidence.get("band"),
        referral.get("code"),
        error.get("code"),
        error.get("field"),
        error.get("message"),
        error.get("retryable"),
        document.get("release_id"),
        document.get("valuation_id"),
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def result_columns(
    documents: Sequence[Mapping[str, Any]], prefix: str, with_documents: bool
) -> dict[str, list[Any]]:
    """Returns results as columns. `with_documents` adds the whole result as JSON text."""
    cells = [result_cells(document) for document in documents]
    columns = {
        f"{prefix}{name}": [row[position] for row in cells]
        for position, name in enumerate(RESULT_COLUMNS)
    }
    if with_documents:
        columns[f"{prefix}{DOCUMENT_COLUMN}"] = [
            json.dumps(document, ensure_ascii=False) for document in documents
        ]
    return columns


def check_collisions(names: Collection[str], prefix: str) -> None:
    """Raises ValueError if a table already has a column of the result's names."""
    for name in (*RESULT_COLUMNS, DOCUMENT_COLUMN):
        if f"{prefix}{name}" in names:
            raise ValueError(
                f"the table has a column {prefix}{name!r} already. Choose another `prefix`."
            )


def result_types(prefix: str) -> dict[str, type]:
    """Returns the types of the columns of `result_columns`."""
    types = {**RESULT_COLUMNS, DOCUMENT_COLUMN: str}
    return {f"{prefix}{name}": kind for name, kind in types.items()}
