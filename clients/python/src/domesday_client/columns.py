"""Columns of a table as members of requests, and results as columns."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, cast, get_args

from pydantic import BaseModel

from .cells import Kind, convert_cell, field_kind, plain_cell
from .errors import CellError, CellFault
from .models import DevelopmentRow, ExistingRow
from .untyped import items_of, members_of

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
#: Most rows with unsound cells that an error names.
MOST_FAULTS = 5


@dataclass(frozen=True)
class Place:
    """The place of a column in a request: a member, or a member of a section, with its kind."""

    path: tuple[str, ...]
    kind: Kind = None
    #: Kinds of the members, if the column is a whole section.
    members: Mapping[str, Kind] = field(default_factory=dict[str, Kind])

    @property
    def pointer(self) -> str:
        """The JSON pointer of the place, as errors of the service have it."""
        return "".join(f"/{name}" for name in self.path)


def _places(model: type[BaseModel]) -> dict[str, Place]:
    """Returns the members of a request, each with the members of its section, if it has one."""
    places: dict[str, Place] = {}
    for name, member in model.model_fields.items():
        members: dict[str, Kind] = {}
        for part in (member.annotation, *get_args(member.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                fields = part.model_fields.items()
                members.update({key: field_kind(known.annotation) for key, known in fields})
        key = member.alias or name
        places[key] = Place((key,), field_kind(member.annotation), members)
    return places


def column_places(names: Sequence[str], mode: str, keep: Collection[str]) -> dict[str, Place]:
    """Returns the place in a request of each column that is sent.

    A column is a member of the request (`property`, `request_reference`), a path (`size.bedrooms`)
    or the name of a field that only one section has (`bedrooms`). `occupancy` may hold the status
    alone. Columns in `keep` are not sent.

    Raises ValueError with all columns that are none of these, so that no misspelt field is left out
    unnoticed, and for two columns that state one field.
    """
    places = _places(DevelopmentRow if mode == "development" else ExistingRow)
    known: dict[str, Place | None] = {}
    for section, place in places.items():
        for member, kind in place.members.items():
            found = Place((section, member), kind)
            known[f"{section}.{member}"] = found
            # Options are left out of short names, because they are not facts of a home.
            if section != "options":
                known[member] = None if member in known else found
    known.update(places)
    sent = {name: known.get(name) for name in names if name not in keep}
    strange = [name for name, found in sent.items() if found is None]
    if strange:
        listed = ", ".join(map(repr, strange))
        is_field = "is not a field" if len(strange) == 1 else "are not fields"
        raise ValueError(
            f"{listed} {is_field} of a request. Pass keep=[{listed}] for columns that are yours, "
            "or correct their names."
        )
    places = {name: found for name, found in sent.items() if found is not None}
    _check_distinct(places)
    return places


def _check_distinct(places: Mapping[str, Place]) -> None:
    """Raises ValueError for two columns that state one field, or a section and a field of it."""
    for (one, place), (other, found) in combinations(places.items(), 2):
        length = min(len(place.path), len(found.path))
        if place.path[:length] == found.path[:length]:
            raise ValueError(
                f"{one!r} and {other!r} state the same part of a request. Pass keep=[{other!r}] or "
                f"keep=[{one!r}] for the column that is not to be sent."
            )


class UnfitCellError(ValueError):
    """A cell that is no value of its field."""

    def __init__(self, column: str, value: Any, message: str) -> None:
        super().__init__(message)
        self.column = column
        self.value = value


def make_request(row: Mapping[str, Any], places: Mapping[str, Place]) -> dict[str, Any]:
    """Returns the request of a row. Empty cells are left out, and sections of empty cells alone.

    Raises UnfitCellError for a cell that is no value of its field.
    """
    request: dict[str, Any] = {}
    for name, place in places.items():
        value = plain_cell(row.get(name))
        if value is None:
            continue
        if place.members:
            section = _section(name, value, place.members)
            # An empty object that the caller states is no empty cell.
            if section or not value:
                request[name] = section
        elif len(place.path) == 1:
            request[name] = _member(name, value, place.kind)
        else:
            parent, member = place.path
            request.setdefault(parent, {})[member] = _member(name, value, place.kind)
    return request


def _section(name: str, value: Any, members: Mapping[str, Kind]) -> Any:
    """Returns the content of a column that is a whole section, without its empty cells."""
    if name == "occupancy" and isinstance(value, str):
        return {"status": value}
    if isinstance(value, BaseModel):
        return value
    if not isinstance(value, Mapping):
        raise UnfitCellError(name, value, "is not an object")
    section = cast("Mapping[str, Any]", value)
    cells = {key: plain_cell(cell) for key, cell in section.items()}
    return {
        key: _member(f"{name}.{key}", cell, members.get(key))
        for key, cell in cells.items()
        if cell is not None
    }


def _member(name: str, value: Any, kind: Kind) -> Any:
    try:
        return convert_cell(value, kind)
    except ValueError as error:
        raise UnfitCellError(name, value, str(error)) from None


def check_cells(rows: Iterable[Mapping[str, Any]], places: Mapping[str, Place]) -> None:
    """Raises CellError with the first rows that have a cell which is no value of its field."""
    faults: list[CellFault] = []
    count = 0
    for index, row in enumerate(rows):
        try:
            make_request(row, places)
        except UnfitCellError as error:
            count += 1
            if len(faults) < MOST_FAULTS:
                faults.append(CellFault(index, error.column, error.value, str(error)))
    if faults:
        raise CellError(faults, count)


def result_cells(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the cells of a result, in the order of `RESULT_COLUMNS`."""
    valuation = members_of(document.get("valuation"))
    interval = members_of(valuation.get("range"))
    confidence = members_of(document.get("confidence"))
    referral = members_of(document.get("referral"))
    error = members_of(next(iter(items_of(document.get("errors"))), None))
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
