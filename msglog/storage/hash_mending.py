"""Hashes that were changed, where what they chain proves what they were: the row itself, and the one after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msglog.storage.engine import Connection
from msglog.storage.hashes import chain_hash, content_hash, revision_hash
from msglog.storage.log_check import REVISION
from msglog.storage.report import Kind, Problem
from msglog.storage.rows import CONTENT

_ENTRY = (
    f"SELECT seq, id, revision, at, salt, content_hash, chain_hash, redacted_at, {', '.join(CONTENT)}"
    " FROM entries WHERE log_id = ? AND seq = ?"
)
_ROW = f"SELECT {', '.join(REVISION)} FROM revisions WHERE log_id = ?"


def mend_hashes(connection: Connection, log_id: int, problems: Sequence[Problem]) -> Iterator[tuple[Kind, int]]:
    """Set the hashes of a log's entries and revisions that are proven; which ones."""
    uid, last = connection.execute("SELECT uid, chain_hash FROM logs WHERE id = ?", (log_id,))[0]
    for seq in _keys(problems, "entry"):
        try:
            found = _proven_entry(connection, log_id, seq, uid, last)
        except (TypeError, ValueError):
            continue  # a value that no entry holds
        if found is not None:
            column, value = found
            connection.execute(f"UPDATE entries SET {column} = ? WHERE log_id = ? AND seq = ?", (value, log_id, seq))
            yield "entry", seq
    for number in _keys(problems, "revision"):
        try:
            proven = _proven_revision(connection, log_id, number, uid)
        except (TypeError, ValueError):
            continue
        if proven is not None:
            connection.execute(
                "UPDATE revisions SET hash = ? WHERE log_id = ? AND number = ?", (proven, log_id, number)
            )
            yield "revision", number


def _keys(problems: Sequence[Problem], kind: Kind) -> list[int]:
    return sorted({p.key for p in problems if p.kind == kind and isinstance(p.key, int)})


class _Entry:
    """An entry's row, as far as its hashes go."""

    def __init__(self, row: Sequence[Any], uid: bytes) -> None:
        self.seq, entry_id, revision, at, self.salt, self.hashed, self.chained, self.redacted_at, *self.content = row
        self._header = (self.seq, entry_id, self.content[0], self.content[1], at, revision)
        self._uid = uid

    def chain(self, previous: bytes, hashed: bytes) -> bytes:
        """Its hash in the chain after another's, with a hash of its content."""
        return chain_hash(previous, self._uid, self._header, hashed)


def _proven_entry(connection: Connection, log_id: int, seq: int, uid: bytes, last: bytes) -> tuple[str, bytes] | None:
    """The one hash of an entry that is not what all others say, and what it must be."""

    def row(at: int) -> _Entry | None:
        rows = connection.execute(_ENTRY, (log_id, at))
        return _Entry(rows[0], uid) if rows else None

    entry, before, after = row(seq), row(seq - 1), row(seq + 1)
    if entry is None or (before is None and seq > 1):
        return None
    previous = uid if before is None else before.chained
    if entry.redacted_at is None:
        hashed = content_hash(entry.salt, entry.content)
        if hashed != entry.hashed:
            return ("content_hash", hashed) if entry.chain(previous, hashed) == entry.chained else None
    chained = entry.chain(previous, entry.hashed)
    follows = chained == last if after is None else after.chain(chained, after.hashed) == after.chained
    return ("chain_hash", chained) if chained != entry.chained and follows else None


def _proven_revision(connection: Connection, log_id: int, number: int, uid: bytes) -> bytes | None:
    """A revision's hash, where that of a revision made from it says what it was."""
    rows = connection.execute(f"{_ROW} AND number = ?", (log_id, number))
    if not rows:
        return None
    columns, parent = rows[0][:-1], rows[0][REVISION.index("parent")]
    before = connection.execute("SELECT hash FROM revisions WHERE log_id = ? AND number = ?", (log_id, parent))
    if parent is not None and not before:
        return None
    hashed = revision_hash(uid if parent is None else before[0][0], columns)
    children = connection.execute(f"{_ROW} AND parent = ?", (log_id, number))
    proven = any(revision_hash(hashed, child[:-1]) == child[-1] for child in children)
    return hashed if proven and hashed != rows[0][-1] else None
