"""The library's values as JSON objects with camelCase keys, and back."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel

from msglog.codec import freeze
from msglog.message import Entry, Message, MessageMeta, StoredMessage
from msglog.model import construct

T = TypeVar("T")


def message_json(message: StoredMessage) -> dict[str, Any]:
    """A stored message: its entry's JSON, with `seq`, `at`, and `redacted` where it was."""
    data = {"seq": message.seq, "at": message.at.isoformat(), **message.entry.to_json()}
    if message.redacted:
        data["redacted"] = True
    return data


def stored_message(data: Mapping[str, Any]) -> StoredMessage:
    """The stored message of what `message_json` gave."""
    entry = Entry(id=data["id"], message=data["message"], kind=data["kind"], meta=data.get("meta"))
    return construct(
        StoredMessage,
        {
            **{name: getattr(entry.message, name) for name in Message.model_fields},
            "seq": data["seq"],
            "at": datetime.fromisoformat(data["at"]),
            "entry_id": entry.id,
            "kind": entry.kind,
            "meta": entry.meta,
            "sources": tuple(data.get("sources", ())),
            "redacted": data.get("redacted", False),
        },
    )


def plain(value: Any) -> Any:
    """A value that the library returns, as JSON: dataclasses by their fields, times in ISO 8601, decimals as text."""
    for kinds, written in _WRITTEN:
        if isinstance(value, kinds):
            return written(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {to_camel(field.name): plain(getattr(value, field.name)) for field in fields(value)}
    return value


_WRITTEN: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((str, int, float), lambda value: value),
    (StoredMessage, message_json),
    ((Message, Entry, MessageMeta), lambda value: value.to_json()),
    (datetime, datetime.isoformat),
    (Decimal, str),
    (Mapping, lambda value: {key: plain(item) for key, item in value.items()}),
    ((list, tuple), lambda value: [plain(item) for item in value]),
    ((set, frozenset), lambda value: sorted(map(plain, value), key=lambda item: (item is not None, item))),
)


@cache
def _types(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def value_of(kind: Any, data: Any) -> Any:
    """The value of a type (a dataclass of the library, or what is in one) that `plain` made `data` of."""
    origin, arguments = get_origin(kind), get_args(kind)
    if data is None:
        return None
    if origin in {Union, types.UnionType}:
        return value_of(next(option for option in arguments if option is not types.NoneType), data)
    if origin in _COLLECTIONS:
        return _COLLECTIONS[origin](value_of(arguments[0], item) for item in data)
    if kind in _READ:
        return _READ[kind](data)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _types(kind)
        keys = {field.name: to_camel(field.name) for field in fields(kind)}
        return kind(**{name: value_of(hints[name], data[key]) for name, key in keys.items() if key in data})
    return freeze(data) if isinstance(data, (dict, list)) else data


_COLLECTIONS: dict[Any, Callable[[Iterable[Any]], Any]] = {list: list, tuple: tuple, frozenset: frozenset}
_READ: dict[Any, Callable[[Any], Any]] = {
    StoredMessage: stored_message,
    datetime: datetime.fromisoformat,
    Decimal: Decimal,
}
