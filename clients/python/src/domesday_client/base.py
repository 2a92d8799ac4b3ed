"""The base of the generated models."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A model that keeps members which it does not know.

    The models of requests forbid unknown members instead, because the service refuses them.
    """

    model_config = ConfigDict(extra="allow", populate_by_name=True)
