"""What a store says of its logs: their sizes, and the title, tags and metadata that people give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from msglog.checks import checked_name
from msglog.codec import EMPTY, FrozenDict, decode, encode, freeze, freeze_object, from_column, to_column
from msglog.errors import CorruptStoreError, UnknownLogError
from msglog.storage.engine import Connection, Row
from msglog.storage.requests import Describe
from msglog.storage.rows import moment
from msglog.storage.transaction import Transaction

LogOrder: TypeAlias = Literal["activity", "name", "entries"]

ORDERS = {"activity": "e.n, l.id", "name": "l.name", "entries": "l.entry_count, e.n, l.id"}
"""How logs can be ordered, and the SQL of it."""


@dataclass(frozen=True, slots=True)
class LogInfo:
    """What a store says of one of its logs.

    `title`, `tags` and `meta` are what `describe` gave it. `bytes` is what its entries hold, content and metadata
    in UTF-8, without the file's own overhead; None where it was not asked for, since it costs as the whole log.
    """

    name: str
    entries: int
    revisions: int
    branches: int
    created_at: datetime
    last_at: datetime | None
    title: str | None = None
    tags: tuple[str, ...] = ()
    meta: FrozenDict = EMPTY
    bytes: int | None = None


_SIZE = " + ".join(
    f"coalesce(length(CAST({column} AS BLOB)), 0)"
    for column in ("id", "name", "text", "parts", "tool_calls", "tool_call_id", "sources", "meta", "extra")
)
_BYTES = f"(SELECT coalesce(sum({_SIZE}), 0) FROM entries WHERE log_id = l.id)"


def check_listing(prefix: str, order: str) -> None:
    """Raise where logs cannot be listed so."""
    if not isinstance(prefix, str):
        raise TypeError(f"a prefix must be a str, not {type(prefix).__name__}")
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {order!r}")


def logs(connection: Connection, path: str, order: LogOrder, *, sizes: bool) -> list[LogInfo]:
    """All logs in an order."""
    return [_info(row, path) for row in connection.execute(f"{_select(sizes=sizes)} ORDER BY {ORDERS[order]}")]


def one(connection: Connection, path: str, log: str, *, sizes: bool) -> LogInfo:
    """One log; `UnknownLogError` where there is none."""
    rows = connection.execute(f"{_select(sizes=sizes)} AND l.name = ?", (log,))
    if not rows:
        raise UnknownLogError(log)
    return _info(rows[0], path)


def _select(*, sizes: bool) -> str:
    return (
        "SELECT l.name, l.entry_count, l.revision_count,"
        " (SELECT count(*) FROM branches AS b WHERE b.log_id = l.id), l.created_at, e.at, l.meta,"
        f" {_BYTES if sizes else 'NULL'} FROM logs AS l"
        " LEFT JOIN entries AS e ON e.log_id = l.id AND e.seq = l.entry_count WHERE l.purged_at IS NULL"
    )


def _info(row: Row, path: str) -> LogInfo:
    name, entries, revisions, branches, created, last, column, size = row
    title, tags, meta = _description(column, path, name)
    last_at = None if last is None else moment(last)
    return LogInfo(name, entries, revisions, branches, moment(created), last_at, title, tags, meta, size)


def _description(column: Any, path: str, log: str) -> tuple[str | None, tuple[str, ...], FrozenDict]:
    try:
        return described(column)
    except ValueError as error:
        raise CorruptStoreError(path, f"log {log!r}", "its title, tags and metadata cannot be read") from error


# The column logs.meta: {"title": …, "tags": […], "meta": {…}}, without what is not given


def described(column: Any) -> tuple[str | None, tuple[str, ...], FrozenDict]:
    """Title, tags and metadata of a stored description; `ValueError` where it is none."""
    if column is None:
        return None, (), EMPTY
    if not isinstance(column, (str, bytes)):
        raise ValueError("it is no text")  # noqa: TRY004 one error for whatever is wrong with it
    value = decode(from_column(column))
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 as above
    title, tags, meta = value.get("title"), value.get("tags", ()), value.get("meta", EMPTY)
    if not (title is None or isinstance(title, str)) or not isinstance(meta, dict):
        raise ValueError("it holds other kinds of values")
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise ValueError("its tags are no texts")
    return title, tuple(tags), FrozenDict(meta)


def checked_changes(changes: Mapping[str, Any]) -> FrozenDict:
    """What a caller wants changed of `title`, `tags` and `meta`, checked; None takes something away."""
    checked: dict[str, Any] = {}
    if "title" in changes:
        title = changes["title"]
        if title is not None and not isinstance(title, str):
            raise TypeError(f"a title must be a str or None, not {type(title).__name__}")
        checked["title"] = freeze(title, "title")
    if "tags" in changes:
        tags = changes["tags"]
        if isinstance(tags, (str, Mapping)) or not (tags is None or isinstance(tags, Iterable)):
            raise TypeError(f"tags must be an iterable of str, not {type(tags).__name__}")
        checked["tags"] = list(dict.fromkeys(checked_name(tag, "a tag") for tag in tags or ()))
    if "meta" in changes:
        meta = changes["meta"]
        checked["meta"] = None if meta is None else freeze_object(meta, "meta")
    return FrozenDict(checked)


def describe(transaction: Transaction, request: Describe) -> None:
    """Change what is given of a log's description. The rest stays as it is now, whoever wrote it."""
    state = transaction.known_log(request.log)
    before = transaction.execute("SELECT meta FROM logs WHERE id = ?", (state.id,))[0][0]
    title, tags, meta = _description(before, transaction.path, request.log)
    changes = request.changes
    column = _column(
        changes.get("title", title),
        changes.get("tags", tags),
        _merged(meta, changes["meta"]) if "meta" in changes else meta,
    )
    if column != before:
        transaction.execute("UPDATE logs SET meta = ? WHERE id = ?", (column, state.id))
        transaction.wrote_what("SELECT 1 FROM logs WHERE id = ? AND meta IS ?", state.id, column)


def _merged(meta: FrozenDict, changes: FrozenDict | None) -> Mapping[str, Any]:
    if changes is None:
        return EMPTY
    return {key: value for key, value in {**meta, **changes}.items() if value is not None}


def _column(title: str | None, tags: Iterable[str], meta: Mapping[str, Any]) -> str | bytes | None:
    given = {"title": title, "tags": list(tags) or None, "meta": meta or None}
    kept = {key: value for key, value in given.items() if value is not None}
    return to_column(encode(kept)) if kept else None
