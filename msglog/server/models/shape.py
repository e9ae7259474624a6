"""What all shapes have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """A JSON object with camelCase keys."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)
