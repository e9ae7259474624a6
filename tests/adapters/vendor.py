"""Providers' own types as strict checks: every part is looked at, and no key is let through that they do not know.

A pydantic TypeAdapter over their TypedDicts as they stand validates `Iterable` lazily and drops unknown keys, so a
copy of each type is made in which iterables are lists and extra keys are forbidden.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from functools import cache
from typing import Any, Union, get_args, get_origin

import typing_extensions
from pydantic import BaseModel, ConfigDict, TypeAdapter, with_config

Json = dict[str, Any]

_REQUIRED: tuple[Any, ...] = (typing_extensions.Required, typing.Required)
_QUALIFIERS = (*_REQUIRED, typing_extensions.NotRequired, typing.NotRequired)


@cache
def strict(kind: Any) -> TypeAdapter[Any]:
    """A validator of a vendor's type that accepts what the type says and no more."""
    return TypeAdapter(_strict(kind), config=None if _is_typed_dict(kind) else ConfigDict(arbitrary_types_allowed=True))


@cache
def _strict(kind: Any) -> Any:
    if _is_typed_dict(kind):
        return _closed(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is typing.Annotated or origin in _QUALIFIERS:
        return _strict(arguments[0])
    if origin in (Union, types.UnionType):
        members = [_strict(argument) for argument in arguments if _is_json(argument)]
        members = [member for member in members if member is not typing.Never]  # what was not JSON all through
        return Union[tuple(members)] if members else typing.Never  # noqa: UP007 computed
    if origin in (list, Iterable) or (isinstance(origin, type) and issubclass(origin, Iterable) and origin is not dict):
        return list[_strict(arguments[0])]  # type: ignore[misc] # computed
    if origin is dict:
        return dict[arguments[0], _strict(arguments[1])]  # type: ignore[misc, valid-type] # computed
    return kind


def _is_typed_dict(kind: Any) -> bool:
    return typing_extensions.is_typeddict(kind)


def _is_json(kind: Any) -> bool:
    """Whether a member of a union is JSON: models are what the API answers, files and paths are for uploads."""
    is_model = isinstance(kind, type) and issubclass(kind, BaseModel)
    return not is_model and "IO[" not in str(kind) and "PathLike" not in str(kind)


def _closed(kind: Any) -> Any:
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    fields: Json = {}
    for name, hint in hints.items():
        presence: Any = typing.Required if get_origin(hint) in _REQUIRED else typing.NotRequired
        fields[name] = presence[_strict(hint)]
    make: Any = typing_extensions.TypedDict
    return with_config(ConfigDict(extra="forbid", arbitrary_types_allowed=True))(
        make(kind.__name__, fields, total=False)
    )
