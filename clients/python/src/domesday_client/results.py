"""Answers as models. An answer of a shape that the description lacks is passed on all the same."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .models import FailedResult, ReferredResult, RejectedResult, ValuedResult
from .untyped import members_of


class UnknownResult(BaseModel):
    """A result whose status or shape this client does not know, with all of its members."""

    model_config = ConfigDict(extra="allow")

    status: str = ""
    release_id: str | None = None
    valuation_id: str | None = None
    request_reference: str | None = None


#: The result of a valuation. Its `status` tells the kinds apart.
Result = ValuedResult | ReferredResult | RejectedResult | FailedResult | UnknownResult

_KNOWN: TypeAdapter[ValuedResult | ReferredResult | RejectedResult | FailedResult] = TypeAdapter(
    Annotated[
        ValuedResult | ReferredResult | RejectedResult | FailedResult,
        Field(discriminator="status"),
    ]
)

M = TypeVar("M", bound=BaseModel)


def read_result(value: Any) -> Result:
    """Returns a result as the model of its status.

    A charged result is never lost to a new word or shape: it becomes an `UnknownResult`.
    """
    try:
        return _KNOWN.validate_python(value, strict=False)
    except ValidationError:
        members = members_of(value)
        if not isinstance(value, dict):
            members = {"value": value}
        return UnknownResult.model_construct(**members)


def read_answer(model: type[M], value: Any) -> M:
    """Returns an answer as its model.

    The members of an answer that contradicts the description are taken as they are, and an absent
    one raises AttributeError where it is used.
    """
    try:
        return model.model_validate(value)
    except ValidationError:
        return model.model_construct(**members_of(value))
