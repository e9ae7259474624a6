"""JSON in and out, lossless or `CodecError`.

What is kept: any `str` (NUL and surrogates included), ints to 4,300 digits, finite floats, booleans,
None, and lists and string-keyed dicts of them, at most `MAX_DEPTH` deep. Tuples become lists and
subclasses their base type when a value enters, so that what is held equals what is read back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

from msglog.errors import CodecError, join_path

JsonValue: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"

MAX_DEPTH = 256
"""Levels of nesting that are kept."""

_INT_LIMIT = 10**4300  # the digits that Python itself converts: sys.int_info.default_max_str_digits


def _refuse(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} is read-only; take a copy with msglog.codec.thaw()")


class FrozenDict(dict[str, Any]):
    """A read-only `dict`: equal to a plain one, and its mutators raise `TypeError`."""

    __slots__ = ()
    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (freeze, (thaw(self),))  # as a whole: pickling level by level would take more of the stack

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


class FrozenList(list[Any]):
    """A read-only `list`: equal to a plain one, and its mutators raise `TypeError`."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = reverse = sort = clear = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return (freeze, (thaw(self),))

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self


EMPTY = FrozenDict()
"""The empty JSON object, shared."""


def freeze(value: object, path: str = "") -> Any:
    """A read-only deep copy of a JSON value; `CodecError` names the path to what cannot be kept."""
    try:
        return _freeze(value, path, 0)
    except RecursionError:
        raise CodecError(path, "nested deeper than what is left of the stack") from None


def freeze_object(value: object, path: str = "") -> FrozenDict:
    """`freeze` for a value that must be a JSON object."""
    if not isinstance(value, dict):
        raise CodecError(path, f"expected a JSON object, not {type(value).__name__}")
    return EMPTY if not value else freeze(value, path)


def _freeze(value: object, path: str, depth: int) -> Any:
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is int or kind is float:
        return _number(value, path)
    if depth >= MAX_DEPTH and isinstance(value, (dict, list, tuple)):
        raise CodecError(path, f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):  # in loops: a comprehension would take a second frame of the stack a level
        fields: dict[str, Any] = {}
        for k, v in value.items():
            key = _key(k, path)
            fields[key] = _freeze(v, f"{path}.{key}" if path else key, depth + 1)
        return FrozenDict(fields)
    if isinstance(value, (list, tuple)):
        items: list[Any] = []
        for i, v in enumerate(value):
            items.append(_freeze(v, f"{path}[{i}]", depth + 1))
        return FrozenList(items)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return _number(value, path)
    raise CodecError(path, f"{kind.__name__} is not a JSON type{_ADVICE.get(kind.__name__, '')}")


_ADVICE = {
    "bytes": "; encode it, as base64 say",
    "bytearray": "; encode it, as base64 say",
    "datetime": "; use isoformat()",
    "date": "; use isoformat()",
    "set": "; use a sorted list",
    "Decimal": "; use str()",
    "UUID": "; use str()",
}


def _number(value: Any, path: str) -> int | float:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise CodecError(path, "NaN and infinities have no JSON form")
        return float(value)
    if not -_INT_LIMIT < value < _INT_LIMIT:
        raise CodecError(path, "an int of more than 4,300 digits")
    return int.__int__(value)


def _key(key: object, path: str) -> str:
    if type(key) is str:
        return key
    if isinstance(key, str):
        return str.__str__(key)
    raise CodecError(join_path(path, repr(type(key).__name__)), "a key of an object must be a str")


def thaw(value: Any) -> Any:
    """A plain, mutable deep copy of a JSON value."""
    if isinstance(value, dict):
        return {k: thaw(v) for k, v in value.items()}
    if isinstance(value, list):
        return [thaw(v) for v in value]
    return value


encode: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode
"""Compact JSON of a frozen value: one text for one value, key order kept. May hold surrogates."""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_loads = json.JSONDecoder(parse_constant=_no_constant, object_hook=FrozenDict).decode


def decode(text: str) -> Any:
    """The frozen value of a JSON text; `ValueError` where it is none."""
    return _wrap(_loads(text))


def _wrap(value: Any) -> Any:
    # Objects are frozen by the decoder's hook, before the lists inside them: those are frozen here, in place.
    if type(value) is FrozenDict:
        for key, item in value.items():
            if type(item) is list or type(item) is FrozenDict:
                dict.__setitem__(value, key, _wrap(item))
        return value
    if type(value) is list:
        return FrozenList(map(_wrap, value))
    return value


def to_column(text: str | None) -> str | bytes | None:
    """The stored form of a text: UTF-8 text, or a `surrogatepass` BLOB where it holds surrogates."""
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_column(value: str | bytes) -> str:
    """The text of a stored column."""
    return value if isinstance(value, str) else bytes(value).decode("utf-8", "surrogatepass")


def readable(text: str) -> str:
    """`text` with what SQL tools stumble over replaced: NUL as U+2400, surrogates as U+FFFD."""
    return text.replace("\0", "\u2400").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_plain(text: str) -> bool:
    """Whether SQLite and its tools handle `text` as it is: no NUL, no surrogate."""
    if "\0" in text:
        return False
    return text.isascii() or isinstance(to_column(text), str)


def without_none(pairs: Iterable[tuple[str, Any]] | Mapping[str, Any]) -> dict[str, Any]:
    """A dict of the pairs whose value is not None."""
    return {k: v for k, v in dict(pairs).items() if v is not None}
