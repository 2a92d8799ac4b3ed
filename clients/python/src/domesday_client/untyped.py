"""Parts of JSON whose shape nothing promises, as typed containers."""

from typing import Any, TypeGuard


def members_of(value: object) -> dict[str, Any]:
    """Returns the members of a JSON object, and none for any other value."""
    return value if _is_object(value) else {}


def items_of(value: object) -> list[Any]:
    """Returns the items of a JSON list, and none for any other value."""
    return value if _is_list(value) else []


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
