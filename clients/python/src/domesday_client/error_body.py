"""Reads an error body in each of the forms that the contracts allow.

A body of no known form, or with members of other types, gives the parts that can be read. Nothing
here raises.
"""

import json
from dataclasses import dataclass

from .untyped import items_of, members_of


@dataclass(frozen=True)
class ErrorItem:
    """One error of a request or of a row."""

    #: The code that programs branch on. It may be one that this client does not know.
    code: str
    message: str
    #: JSON Pointer (v3) or name of the parameter (v1).
    pointer: str | None
    #: False if the same request cannot succeed later; None if the body does not say.
    retryable: bool | None


@dataclass(frozen=True)
class ErrorSummary:
    """An error body: its first error and all errors."""

    first: ErrorItem | None
    all: tuple[ErrorItem, ...]
    #: True if a part of the body says `retryable: false`.
    refuses_retry: bool


def parse_error_body(content: bytes) -> ErrorSummary:
    """Parses the content of an error body."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    members = members_of(body)
    top = _read_items([members.get("error"), members.get("detail")])
    errors = _read_items(items_of(members.get("errors")))
    return ErrorSummary(
        first=next(iter(top + errors), None),
        all=errors or top,
        refuses_retry=any(item.retryable is False for item in top + errors),
    )


def _read_items(values: list[object]) -> tuple[ErrorItem, ...]:
    return tuple(item for item in map(_read_item, values) if item is not None)


def _read_item(value: object) -> ErrorItem | None:
    if isinstance(value, str):
        return ErrorItem(value, "", None, None)
    members = members_of(value)
    if not isinstance(value, dict):
        return None
    code, message, pointer = (members.get(name) for name in ("code", "message", "field"))
    retryable = members.get("retryable")
    return ErrorItem(
        code=code if isinstance(code, str) else "",
        message=message if isinstance(message, str) else "",
        pointer=pointer if isinstance(pointer, str) else None,
        retryable=retryable if isinstance(retryable, bool) else None,
    )
