"""Entries to rows and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from msglog.checks import checked_name
from msglog.codec import EMPTY, FrozenDict, decode, encode, from_column, is_plain, readable, to_column
from msglog.errors import CorruptStoreError, MsgLogError
from msglog.history import Operation, Revision
from msglog.history.operations import parse_operation
from msglog.message import (
    Entry,
    Message,
    MessageMeta,
    StoredMessage,
    ToolCall,
    content_text,
    make_entry,
)
from msglog.model import construct
from msglog.storage.engine import Row

CONTENT = ("kind", "role", "name", "text", "parts", "tool_calls", "tool_call_id", "sources", "meta", "extra")
"""The columns that hold what was appended: equal entries have equal content columns."""

STORED = ("seq", "id", *CONTENT, "at", "redacted_at")
"""The columns that a `StoredMessage` is made of, in the order in which `stored_message` takes them."""

REDACTED = "[redacted]"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(at: int) -> datetime:
    """The time of a stored number of microseconds."""
    return _EPOCH + timedelta(microseconds=at)


@dataclass(slots=True)
class Draft:
    """An entry as it is about to be stored. `fresh` says that its id was made just now, for this very append."""

    entry: Entry
    content: tuple[Any, ...]
    at: int
    fresh: bool
    size: int


def draft(entry: Entry, at: int, *, fresh: bool) -> Draft:
    """The row form of an entry that is stored at `at` (microseconds). `InvalidNameError` for an id that is none."""
    checked_name(entry.id, "the id of an entry")
    for source in entry.sources:
        checked_name(source, "the id of a source")
    content = content_columns(entry)
    size = 0
    for value in content:
        if value is not None:
            size += len(value) if type(value) is not str or value.isascii() else len(value.encode())
    return Draft(entry, content, at, fresh, size)


def content_columns(entry: Entry) -> tuple[Any, ...]:
    """The content columns of an entry."""
    message = entry.message
    content = message.content
    parts: str | bytes | None = None
    text: str | None
    if type(content) is str and is_plain(content):
        text = content
    elif content is None:
        text = None
    else:
        text, parts = readable(content_text(content)), to_column(encode(content))
    calls = message.tool_calls
    return (
        entry.kind,
        message.role,
        to_column(message.name),
        text,
        parts,
        to_column(encode([call.to_json() for call in calls])) if calls else None,
        to_column(message.tool_call_id),
        to_column(encode(list(entry.sources))) if entry.sources else None,
        None if entry.meta is None else to_column(encode(entry.meta.to_json())),
        to_column(encode(message.extra)) if message.extra else None,
    )


def stored_message(row: Row, path: str, log: str) -> StoredMessage:
    """The message of a row of the `STORED` columns; `CorruptStoreError` where it holds none."""
    seq, entry_id, kind, role, name, text, parts, calls, call_id, sources, meta, extra, at, redacted_at = row
    try:
        return construct(
            StoredMessage,
            {
                "role": role,
                "content": (text if parts is None else decode(from_column(parts))) if redacted_at is None else REDACTED,
                "name": None if name is None else from_column(name),
                "tool_calls": () if calls is None else _calls(from_column(calls)),
                "tool_call_id": None if call_id is None else from_column(call_id),
                "extra": EMPTY if extra is None else decode(from_column(extra)),
                "seq": seq,
                "at": moment(at),
                "entry_id": entry_id,
                "kind": kind,
                "meta": None if meta is None else MessageMeta(**decode(from_column(meta))),
                "sources": () if sources is None else tuple(decode(from_column(sources))),
                "redacted": redacted_at is not None,
            },
        )
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, MsgLogError) as error:
        raise CorruptStoreError(path, f"log {log!r}, seq {seq}", "the row holds no message") from error


def _calls(text: str) -> tuple[ToolCall, ...]:
    return tuple(
        construct(
            ToolCall,
            {
                "id": call["id"],
                "name": call["name"],
                "args": call["args"],
                "raw": call.get("raw"),
                "extra": call.get("extra", EMPTY),
            },
        )
        for call in decode(text)
    )


def stored_entry(row: Row, path: str, log: str) -> Entry:
    """The entry of a row of the `STORED` columns."""
    message = stored_message(row, path, log)
    fields = message.__dict__
    plain = construct(Message, {name: fields[name] for name in Message.model_fields})
    return make_entry(message.entry_id, plain, message.kind, message.meta, message.sources)


def written_message(draft: Draft, seq: int) -> StoredMessage:
    """The message that a draft became at `seq`."""
    entry = draft.entry
    fields = {
        **entry.message.__dict__,
        "seq": seq,
        "at": moment(draft.at),
        "entry_id": entry.id,
        "kind": entry.kind,
        "meta": entry.meta,
        "sources": entry.sources,
        "redacted": False,
    }
    return construct(StoredMessage, fields)


def redacted_calls(calls: str | bytes | None) -> str | bytes | None:
    """The tool calls of a redacted entry: their ids and names, so that pairs stay valid, without arguments."""
    if calls is None:
        return None
    kept = [{"id": call["id"], "name": call["name"], "args": {}} for call in decode(from_column(calls))]
    return to_column(encode(kept))


def operation_column(revision: Revision, *, of_new_entries: bool) -> str | None:
    """The stored operation of a revision: null where it appends exactly the entries that it brings in."""
    operation = revision.operation
    if operation is None:
        return None if revision.entry_ids is None else encode({"type": "view", "entryIds": list(revision.entry_ids)})
    if operation.type == "append" and of_new_entries:
        return None
    data = dict(operation.to_json())
    if revision.entry_ids is not None:
        data["entryIds"] = list(revision.entry_ids)
    return encode(data)


REVISION = ("number", "id", "replaces", "branch", "parent", "operation", "size", "meta", "at")
"""The columns that a `Revision` is made of, in the order in which `stored_revision` takes them."""


def stored_revision(row: Row, parent: str | None, appended: Sequence[str], path: str, log: str) -> Revision:
    """The revision of a row of the `REVISION` columns. `appended` are the ids of the entries it brought in."""
    number, revision_id, replaces, _branch, _parent, operation, size, meta, at = row
    try:
        frozen = EMPTY if meta is None else FrozenDict(decode(from_column(meta)))
        entry_ids = None
        made: Operation | None = None
        if operation is not None:
            data = decode(operation)
            if data["type"] == "edit" or parent is None:
                entry_ids = None if data.get("entryIds") is None else tuple(data["entryIds"])
            made = None if parent is None else parse_operation(data, stated=entry_ids is not None)
        elif parent is not None:
            made = Operation("append", tuple(appended))
        return Revision(revision_id, parent, made, size, at // 1000, replaces, frozen, entry_ids)
    except (ValueError, TypeError, LookupError, ArithmeticError, MsgLogError) as error:
        raise CorruptStoreError(path, f"log {log!r}, revision {number}", "the row holds no revision") from error
