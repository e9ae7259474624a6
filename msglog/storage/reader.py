"""Reads: functions of a connection, each on one snapshot. Statements that find, and rows made into values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from msglog.codec import FrozenDict, decode, encode, from_column
from msglog.errors import (
    CorruptStoreError,
    UnknownBranchError,
    UnknownEntryError,
    UnknownLogError,
    UnknownRevisionError,
)
from msglog.history import MessageHistory, Revision, Snapshot
from msglog.history.history import originals
from msglog.message import Entry, Message, StoredMessage
from msglog.storage import statements as sql
from msglog.storage.chunks import chunks_of
from msglog.storage.engine import Connection, Row
from msglog.storage.lineage import head_row, segments
from msglog.storage.rows import REVISION, STORED, moment, stored_entry, stored_message, stored_revision
from msglog.storage.spans import Run, count, decode_spans

FULL_LIMIT = 100_000
"""Revisions that `history(full=True)` loads at most."""


@dataclass(frozen=True, slots=True)
class ViewState:
    """A revision, and where its view is kept."""

    log_id: int
    number: int
    id: str
    tail: str
    size: int
    appended: int
    parent: int | None
    chunks: str


@dataclass(frozen=True, slots=True)
class Page:
    """Messages of a log, and where their reader goes on: `reached` is the seq up to which nothing is left to read.

    `log_id` and `end`, the log's last seq, tell whether it is still the log that was read before.
    """

    messages: list[StoredMessage]
    reached: int
    log_id: int | None
    end: int


@dataclass(frozen=True, slots=True)
class View:
    """A part of what a revision shows: its `messages` from the position `start` on, of `size` in all.

    `revision` is None where the log does not exist yet.
    """

    revision: str | None
    size: int
    start: int
    messages: list[StoredMessage]


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a log: its head revision, and the revision that it was forked from (None for `main`)."""

    name: str
    head: str
    forked_from: str | None
    created_at: datetime


def log_id(connection: Connection, log: str) -> int | None:
    """The id of a log; None where it does not exist yet."""
    rows = connection.execute(sql.LOG, (log,))
    return int(rows[0][0]) if rows else None


def known_log(connection: Connection, log: str) -> int:
    """The id of a log; `UnknownLogError` where it does not exist."""
    found = log_id(connection, log)
    if found is None:
        raise UnknownLogError(log)
    return found


def _state(log: int, row: Row) -> ViewState:
    number, revision_id, _hash, _anchor, tail, size, appended, _branch, parent, chunks = row
    return ViewState(log, number, revision_id, tail, size, appended, parent, chunks)


def branch_state(connection: Connection, path: str, log: str, branch: str) -> ViewState | None:
    """What a branch shows; None where the log does not exist yet."""
    found = log_id(connection, log)
    if found is None:
        if branch != "main":
            raise UnknownBranchError(log, branch)
        return None
    return _state(found, head_row(connection, path, log, found, branch))


def revision_state(connection: Connection, log: str, revision: str) -> ViewState:
    """What a revision shows."""
    found = known_log(connection, log)
    rows = connection.execute(sql.REVISION_STATE_BY_ID, (found, revision))
    if not rows:
        raise UnknownRevisionError(revision, f"log {log!r}")
    return _state(found, rows[0])


def runs_between(connection: Connection, state: ViewState, start: int, stop: int) -> list[Run]:
    """The seqs at positions `start` to `stop` of a view, as runs. Only chunks that hold such places are read."""
    runs: list[Run] = []
    if start < stop:
        tail = decode_spans(state.tail)
        tail_at = state.size - count(tail)
        chunks = json.loads(state.chunks) if start < tail_at else []
        ends = [position for _, position in chunks[1:]] + [tail_at] * bool(chunks)
        wanted = {
            number: position
            for (number, position), end in zip(chunks, ends, strict=True)
            if position < stop and end > start
        }
        for number, chunk in chunks_of(connection, state.log_id, list(wanted)).items():
            runs += _cut(chunk, wanted[number], start, stop)
        runs += _cut(tail, tail_at, start, stop)
    return runs


def _cut(runs: Sequence[Run], position: int, start: int, stop: int) -> Iterator[Run]:
    for first, last in runs:
        end = position + last - first + 1
        if end > start and position < stop:
            yield first + max(0, start - position), last - max(0, end - stop)
        position = end


def rows_of(connection: Connection, log: int, runs: Sequence[Run]) -> list[Row]:
    """The rows of entries, run by run."""
    if len(runs) == 1:
        return connection.execute(sql.ENTRIES_BETWEEN, (log, *runs[0]))
    return connection.execute(sql.ENTRIES_OF_RUNS, (json.dumps(runs), log)) if runs else []


def view_messages(
    connection: Connection, path: str, log: str, state: ViewState, start: int, stop: int
) -> list[StoredMessage]:
    """The messages at positions `start` to `stop` of a view."""
    runs = runs_between(connection, state, start, stop)
    rows = rows_of(connection, state.log_id, runs)
    if len(rows) != max(0, min(stop, state.size) - start):
        raise CorruptStoreError(path, f"log {log!r}, revision {state.number}", "entries of its view are missing")
    return [stored_message(row, path, log) for row in rows]


def view(
    connection: Connection, path: str, log: str, branch: str, at: str | None, start: int, limit: int | None
) -> View:
    """A part of the view of a branch, or of a revision. A negative start counts from the end."""
    state = branch_state(connection, path, log, branch) if at is None else revision_state(connection, log, at)
    if state is None:
        return View(None, 0, 0, [])
    first = min(start, state.size) if start >= 0 else max(0, state.size + start)
    stop = state.size if limit is None else min(first + limit, state.size)
    return View(state.id, state.size, first, view_messages(connection, path, log, state, first, stop))


def one_entry(connection: Connection, path: str, log: str, key: int | str) -> StoredMessage:
    """The message of a seq or an entry id."""
    found = log_id(connection, log)
    statement = sql.ENTRY_AT if isinstance(key, int) else sql.ENTRY_OF_ID
    rows = connection.execute(statement, (found, key)) if found is not None else []
    if not rows:
        raise UnknownEntryError(key, f"log {log!r}")
    return stored_message(rows[0], path, log)


def find_entry(connection: Connection, path: str, log: str, entry_id: str) -> StoredMessage | None:
    """The message of an entry id, or None."""
    found = log_id(connection, log)
    rows = connection.execute(sql.ENTRY_OF_ID, (found, entry_id)) if found is not None else []
    return stored_message(rows[0], path, log) if rows else None


def lineage_messages(connection: Connection, path: str, log: str, branch: str | None, after: int, limit: int) -> Page:
    """What a branch's lineage brought in after a seq, in order; the whole log's entries without a branch."""
    found = connection.execute(sql.LOG, (log,))
    if not found:
        if branch not in (None, "main"):
            raise UnknownBranchError(log, branch or "")
        return Page([], after, None, 0)
    number, _, end, *_ = found[0]
    if branch is None:
        rows = connection.execute(sql.ENTRIES_AFTER, (number, after, limit, 0))
    else:
        if not connection.execute(sql.FORKED_FROM, (number, branch)):
            raise UnknownBranchError(log, branch)
        parts = segments(connection, number, branch)
        rows = connection.execute(sql.LINEAGE_ENTRIES, (number, after, encode(parts), limit))
    messages = [stored_message(row, path, log) for row in rows]
    return Page(messages, messages[-1].seq if len(messages) == limit else max(after, end), number, end)


def reported_usage(
    connection: Connection, path: str, log: str, after: int, limit: int
) -> list[tuple[int, datetime, str, FrozenDict]]:
    """Entries with metadata after a seq, in order: seq, time, the branch that it was stored through, metadata."""
    rows = connection.execute(
        "SELECT e.seq, e.at, r.branch, e.meta FROM logs AS l JOIN entries AS e ON e.log_id = l.id"
        " JOIN revisions AS r ON r.log_id = e.log_id AND r.number = e.revision"
        " WHERE l.name = ? AND e.seq > ? AND e.meta IS NOT NULL ORDER BY e.seq LIMIT ?",
        (log, after, limit),
    )
    try:
        return [(seq, moment(at), branch, FrozenDict(decode(from_column(meta)))) for seq, at, branch, meta in rows]
    except (ValueError, TypeError) as error:
        raise CorruptStoreError(path, f"log {log!r}, after seq {after}", "metadata that is no JSON object") from error


def last_seq(connection: Connection, log: str) -> int:
    """The log's last seq, 0 where it does not exist yet."""
    rows = connection.execute(sql.LOG, (log,))
    return int(rows[0][2]) if rows else 0


def branches(connection: Connection, log: str) -> list[Branch]:
    """The branches of a log, oldest first; none where it does not exist yet."""
    found = log_id(connection, log)
    if found is None:
        return []
    return [
        Branch(name, head, forked_from, moment(at))
        for name, head, forked_from, at, _, _ in connection.execute(sql.BRANCHES, (found,))
    ]


# Histories


def partial_history(connection: Connection, path: str, log: str, state: ViewState, last: int | None) -> MessageHistory:
    """A history of a revision and its view, or of the last entries of it."""
    missing = 0 if last is None else max(0, state.size - last)
    runs = runs_between(connection, state, missing, state.size)
    entries = [stored_entry(row, path, log) for row in rows_of(connection, state.log_id, runs)]
    if len(entries) != state.size - missing:
        raise CorruptStoreError(path, f"log {log!r}, revision {state.number}", "entries of its view are missing")
    row = connection.execute(sql.REVISION_ROW, (state.log_id, state.number))[0]
    revision = _with_ids(connection, state.log_id, row, path, log)
    return MessageHistory.loaded(revision, [entry.id for entry in entries], entries, missing=missing)


def _with_ids(connection: Connection, log: int, row: Row, path: str, name: str) -> Revision:
    """The revision of a row; the ids that an append added are the last ones that its view shows."""
    number, parent, operation = row[0], row[4], row[5]
    if parent is None:
        return stored_revision(row, None, (), path, name)
    before = _state(log, connection.execute(sql.REVISION_STATE, (log, parent))[0])
    ids: list[str] = []
    if operation is None:
        state = _state(log, connection.execute(sql.REVISION_STATE, (log, number))[0])
        runs = runs_between(connection, state, state.size - (state.appended - before.appended), state.size)
        ids = [entry_row[1] for entry_row in rows_of(connection, log, runs)]
    return stored_revision(row, before.id, ids, path, name)


def full_history(connection: Connection, path: str, log: str, state: ViewState, limit: int | None) -> MessageHistory:
    """The history of a revision's lineage, and of the revisions that it went back to, with all their entries.

    Raises `ValueError` where that is more than `limit` revisions.
    """
    rows = connection.execute(
        f"SELECT {', '.join(REVISION)} FROM revisions WHERE log_id = ? AND number <= ? ORDER BY number",
        (state.log_id, state.number),
    )
    by_number = {row[0]: row for row in rows}
    by_id = {row[1]: row[0] for row in rows}
    wanted: set[int] = set()
    waiting: list[int] = [state.number]
    while waiting:
        number = waiting.pop()
        if number in wanted:
            continue
        wanted.add(number)
        if limit is not None and len(wanted) > limit:
            raise ValueError(
                f"log {log!r} has more than {limit:,} revisions behind this one; "
                "pass limit=None to load them all, or read revisions() page by page"
            )
        row = by_number[number]
        if row[4] is not None:
            waiting.append(row[4])
        if row[5] is not None and '"revision"' in row[5]:
            target = by_id.get(json.loads(row[5]).get("revision"))
            if target is not None:
                waiting.append(target)
    appended: dict[int, list[str]] = {}
    entries: list[Entry] = []
    after = 0
    while page := connection.execute(
        f"SELECT revision, {', '.join(STORED)} FROM entries WHERE log_id = ? AND seq > ? ORDER BY seq LIMIT 1000",
        (state.log_id, after),
    ):
        for number, *columns in page:
            if number in wanted:
                entry = stored_entry(tuple(columns), path, log)
                appended.setdefault(number, []).append(entry.id)
                entries.append(entry)
        after = page[-1][1]
    revisions = [
        stored_revision(
            by_number[number],
            None if by_number[number][4] is None else by_number[by_number[number][4]][1],
            appended.get(number, ()),
            path,
            log,
        )
        for number in sorted(wanted)
    ]
    known = {entry.id for entry in entries}
    named = {i for r in revisions for i in (*(r.operation.brought_in() if r.operation else ()), *(r.entry_ids or ()))}
    named |= {source for entry in entries for source in entry.sources}
    while missing := named - known:
        # Entries that came in elsewhere: on another branch, from which a history took them over.
        found = [
            stored_entry(row, path, log)
            for row in connection.execute(sql.ENTRIES_OF_IDS, (state.log_id, encode(sorted(missing))))
        ]
        entries += found
        known |= missing
        named |= {source for entry in found for source in entry.sources}
    return MessageHistory.from_snapshot(
        Snapshot(entries=tuple(entries), revisions=tuple(revisions), head=revisions[-1].id)
    )


def revision_page(
    connection: Connection, path: str, log: str, branch: str | None, below: int | str | None, limit: int
) -> list[tuple[int, Revision]]:
    """Revisions, newest first, those below a number, or a revision: of a branch's lineage, or of the whole log."""
    if branch is None:
        found = log_id(connection, log)
        condition, bound = "1", list[str]()
    else:
        state = branch_state(connection, path, log, branch)
        found = None if state is None else state.log_id
        parts = [] if found is None else segments(connection, found, branch)
        condition, bound = sql.ON_LINEAGE, [encode(parts)]
    if found is None:
        return []
    if isinstance(below, str):
        below = revision_state(connection, log, below).number
    rows = connection.execute(
        f"SELECT {', '.join(REVISION)} FROM revisions AS r WHERE log_id = ? AND number < ? AND {condition}"
        " ORDER BY number DESC LIMIT ?",
        (found, 2**62 if below is None else below, *bound, limit),
    )
    return [(row[0], _with_ids(connection, found, row, path, log)) for row in rows]


def restored(
    connection: Connection, path: str, log: str, state: ViewState, entry_ids: Sequence[str] | None
) -> list[Message]:
    """The original turns behind a view, or behind given entries."""
    entries: dict[str, Entry] = {}
    if entry_ids is None:
        runs = runs_between(connection, state, 0, state.size)
        for row in rows_of(connection, state.log_id, runs):
            entry = stored_entry(row, path, log)
            entries[entry.id] = entry
        ids = list(entries)
    else:
        ids = list(entry_ids)
    looked_for = set(entries)
    wanted = set(ids) | {source for entry in entries.values() for source in entry.sources}
    while missing := wanted - looked_for:
        looked_for |= missing
        for row in connection.execute(sql.ENTRIES_OF_IDS, (state.log_id, encode(sorted(missing)))):
            entry = stored_entry(row, path, log)
            entries[entry.id] = entry
            wanted.update(entry.sources)
    for entry_id in ids:
        if entry_id not in entries:
            raise UnknownEntryError(entry_id, f"log {log!r}")
    return [entry.message for entry in originals(ids, entries.get)]
