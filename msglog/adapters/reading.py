"""What providers sent, as dicts whose faults are named by their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from pydantic import BaseModel

from msglog.errors import CodecError, InvalidMessageError

Sent: TypeAlias = Mapping[str, Any] | BaseModel
"""What a provider sent: a dict, or an object of the provider's own package, which are pydantic models."""


def as_object(value: Any) -> dict[str, Any]:
    """A dict of what a provider sent."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    raise InvalidMessageError("", f"expected a dict, not {type(value).__name__}")


def as_objects(value: Any, path: str) -> list[dict[str, Any]]:
    """A list of dicts, from a list of what `as_object` takes."""
    if not isinstance(value, (list, tuple)):
        raise InvalidMessageError(path, f"expected a list, not {type(value).__name__}")
    found = []
    for i, item in enumerate(value):
        with at(f"{path}[{i}]"):
            found.append(as_object(item))
    return found


@contextmanager
def at(path: str) -> Iterator[None]:
    """Errors from inside name their place below `path`."""
    try:
        yield
    except (CodecError, InvalidMessageError) as error:
        raise error.under(path) from None
