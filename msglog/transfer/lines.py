"""The lines of a bundle: rows as JSON objects, one a line, in which every column stays exactly what it was.

A column that is text stands as a string, also one that holds JSON: the hashes cover its text. One that SQLite cannot
hold as text (it holds surrogates) stands as `{"base64": …}` of its bytes, a hash as hex. What is null is left out.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic.alias_generators import to_camel

from msglog.codec import encode
from msglog.storage import copies
from msglog.storage.engine import Row
from msglog.storage.rows import CONTENT

FORMAT = "msglog"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a line: its key, what its values are, and whether it may be left out."""

    key: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    optional: bool


def _same(value: Any) -> Any:
    return value


def _integer(value: Any) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise ValueError("an integer of 64 bits")
    return value


def _count(value: Any) -> int:
    if _integer(value) < 0:
        raise ValueError("a count")
    return int(value)


def _text(value: Any) -> str:
    if type(value) is not str or not (value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)):
        raise ValueError("text without surrogates")
    return value


def _to_any_text(value: str | bytes) -> Any:
    return value if isinstance(value, str) else {"base64": base64.b64encode(value).decode()}


def _any_text(value: Any) -> str | bytes:
    if isinstance(value, dict) and value.keys() == {"base64"} and isinstance(value["base64"], str):
        return base64.b64decode(value["base64"], validate=True)
    return _text(value)


def _to_hash(value: bytes) -> str:
    return value.hex()


def _hash(value: Any) -> bytes:
    if type(value) is not str or not re.fullmatch("[0-9a-f]{32}", value):
        raise ValueError("a hash of 32 hex digits")
    return bytes.fromhex(value)


_INTEGERS = {
    *("seq", "revision", "at", "redacted_at", "number", "parent", "anchor", "size", "appended"),
    *("chunk", "forked_from", "created_at"),
}
_HASHES = {"uid", "salt", "content_hash", "chain_hash", "hash"}
_ANY_TEXTS = {*CONTENT, "redacted_reason", "meta"} - {"kind", "role"}
_OPTIONAL = _ANY_TEXTS | {"salt", "redacted_at", "replaces", "parent", "operation", "chunks", "forked_from"}


def _column(name: str, table: str) -> Column:
    optional = name in _OPTIONAL and (table, name) != ("branch", "name")
    if name in _INTEGERS:
        return Column(to_camel(name), _same, _integer, optional)
    if name in _HASHES:
        return Column(to_camel(name), _to_hash, _hash, optional)
    if name in _ANY_TEXTS and (table, name) not in {("branch", "name"), ("log", "name")}:
        return Column(to_camel(name), _to_any_text, _any_text, optional)
    return Column(to_camel(name), _same, _text, optional and table != "log")


def _columns(table: str, names: Iterable[str]) -> list[Column]:
    return [_column(name, table) for name in names]


_CHECK = [_column("hash", "check")]
LINES: dict[str, list[Column]] = {
    "bundle": [
        Column("format", _same, _text, optional=False),
        *(Column(key, _same, _count, optional=False) for key in ("version", "logs", "entries", "revisions")),
    ],
    "log": _columns("log", ("uid", "name", "created_at", "meta")),
    "branch": _columns("branch", copies.BRANCH),
    "entry": _columns("entry", copies.ENTRY),
    "chunk": _columns("chunk", copies.CHUNK),
    "revision": _columns("revision", copies.REVISION),
    "check": _CHECK,
    "end": _CHECK,
}
"""The types of lines, and the columns of each in the order in which they are written."""


def line_of(kind: str, row: Sequence[Any]) -> bytes:
    """The line of a row, with its line feed."""
    data: dict[str, Any] = {"type": kind}
    for column, value in zip(LINES[kind], row, strict=True):
        if value is not None:
            data[column.key] = column.write(value)
    return encode(data).encode() + b"\n"


def row_of(line: bytes) -> tuple[str, Row]:
    """The type and the row of a line; `ValueError` says what is wrong, without a word of what the line holds."""
    try:
        data = _decode(line.decode())
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON object in UTF-8") from None
    kind = data.pop("type", None) if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in LINES:
        raise ValueError("it is of no type that a bundle has")
    row = []
    for column in LINES[kind]:
        value = data.pop(column.key, None)
        if value is None and not column.optional:
            raise ValueError(f"{column.key} is missing")
        try:
            row.append(None if value is None else column.read(value))
        except ValueError as error:
            reason = "not base64" if value and isinstance(value, dict) else f"not {error}"
            raise ValueError(f"{column.key} is {reason}") from None
    if data:
        raise ValueError(f"it has {len(data)} more keys than a line of type {kind} has")
    return kind, tuple(row)


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key stands twice")
    return data


def _no_number(_text: str) -> NoReturn:
    raise ValueError("no number that a bundle holds")


_decode = json.JSONDecoder(object_pairs_hook=_no_twins, parse_constant=_no_number, parse_float=_no_number).decode
