"""Cells of a table as values of a request's fields.

A reader of CSV guesses the type of a column. It takes a building's number for a number, or all
cells for texts. Here the type of the field decides. A cell whose meaning would change is refused.
"""

import datetime
import decimal
import math
import re
import uuid
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from .frames import is_missing
from .json_body import encode, to_json_value

#: The types of fields: text, whole number, number, boolean and day. None stands for any other.
Kind = type[str] | type[int] | type[float] | type[bool] | type[datetime.date] | None

_KINDS: tuple[Kind, ...] = (str, int, float, bool, datetime.date)
_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?")
# From here on two whole numbers may be one float.
_EXACT = 2**53


def field_kind(annotation: object) -> Kind:
    """Returns the kind of a field of a model."""
    origin = get_origin(annotation)
    if origin is Literal:
        return str
    if origin in (Union, UnionType):
        kinds = {field_kind(part) for part in get_args(annotation) if part is not type(None)}
        return kinds.pop() if len(kinds) == 1 else None
    return next((kind for kind in _KINDS if annotation is kind), None)


def plain_cell(value: Any) -> Any:
    """Returns a cell without the types of NumPy, and None for an empty one: blank text too."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        # A time in nanoseconds would become a bare number.
        is_time = type(value).__name__ == "datetime64"
        value = (value.astype("datetime64[us]") if is_time else value).item()
    is_blank = isinstance(value, str) and not value.strip()
    is_nan = isinstance(value, decimal.Decimal) and value.is_nan()
    return None if is_blank or is_nan or is_missing(value) else value


def convert_cell(value: Any, kind: Kind) -> Any:
    """Returns the value of a field for a cell that is not empty.

    Raises ValueError with what is wrong for a cell that is no value of this kind.
    """
    if kind is str:
        return _text(value)
    if kind is bool:
        return _boolean(value)
    if kind is int:
        return _whole(value)
    if kind is float:
        return _number(value)
    return _other(value) if kind is None else _day(value)


def _other(value: Any) -> Any:
    """Returns a value of a field whose type is none of the kinds, if JSON has a form for it."""
    try:
        encode(to_json_value(value))
    except UnicodeEncodeError:
        raise ValueError("is not valid Unicode") from None
    except TypeError as error:
        raise ValueError(str(error)) from None
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        if not _is_unicode(value):
            raise ValueError("is not valid Unicode")
        return value
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    try:
        return str(_whole(value))
    except ValueError:
        raise ValueError("is not a text or a whole number") from None


def _is_unicode(text: str) -> bool:
    """Returns false for a lone surrogate, as bytes leave it that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Any) -> int:
    """Returns a whole number, also of a float, since pandas makes floats of a column with a gap."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    is_number = isinstance(value, float | decimal.Decimal)
    if is_number and -_EXACT < value < _EXACT and value % 1 == 0:
        return int(value)
    found = _WHOLE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found and len(found[1]) < 100:
        return int(found[1])
    raise ValueError("is not a whole number")


def _number(value: Any) -> int | float:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    is_text = isinstance(value, str) and _NUMBER.fullmatch(value.strip())
    if is_text or isinstance(value, float | decimal.Decimal):
        number = float(value)
        if math.isfinite(number):
            return number
    raise ValueError("is not a number")


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    if isinstance(value, int | float) and value in (0, 1):
        return value == 1
    raise ValueError("is not one of yes, no, true, false, 1, 0")


def _day(value: Any) -> str:
    """Returns a day. A time of day is left out, unless a time zone could make it another day."""
    if isinstance(value, str) and _DAY.fullmatch(value.strip()):
        try:
            value = datetime.datetime.fromisoformat(value.strip())
        except ValueError:
            raise ValueError("is not a day of the calendar") from None
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None and value.time() != datetime.time(0):
            raise ValueError("has a time of day in a time zone: state the date alone")
        return value.date().isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise ValueError("is not a date as YYYY-MM-DD")
