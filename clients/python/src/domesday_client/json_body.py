"""Plain JSON of the values that callers pass: models, dates, decimals and numbers of frames."""

import datetime
import decimal
import json
import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel


def to_json_value(value: object) -> Any:
    """Returns a value as JSON knows it: objects, lists, texts, numbers, booleans and null.

    Members of a model that were not set are left out, because the service refuses a null.

    Raises ValueError for a number that is not finite, and TypeError for any other type.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number of JSON")
        return value
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return {str(name): to_json_value(member) for name, member in members.items()}
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time(0)
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return to_json_value(int(value) if value == value.to_integral_value() else float(value))
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [to_json_value(item) for item in cast("Sequence[object]", value)]
    # Numbers and lists of frames: those of NumPy convert themselves.
    convert = getattr(value, "tolist", None)
    if callable(convert):
        return to_json_value(convert())
    raise TypeError(f"a value of type {type(value).__name__} has no form in JSON")


def encode(value: object) -> bytes:
    """Returns the compact JSON of a plain value in UTF-8.

    Raises ValueError for a number that is not finite and for a text with a lone surrogate.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()
