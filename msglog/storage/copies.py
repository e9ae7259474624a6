"""Logs as they are copied to another store: whole, part by part, each a sound piece that goes on from the last.

A log only grows, so what it held at one moment can be read at leisure: no read transaction outlives a part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msglog.errors import CorruptStoreError, UnknownLogError
from msglog.storage import statements as sql
from msglog.storage.engine import Connection, Row
from msglog.storage.rows import CONTENT

ENTRY = tuple(column for column in sql.TABLES["entries"] if column not in ("n", "log_id"))
REVISION = tuple(column for column in sql.TABLES["revisions"] if column != "log_id")
CHUNK = ("chunk", "spans")
BRANCH = ("name", "forked_from", "created_at")
"""The columns of the rows of a part, in their order."""

FIRST_CONTENT = ENTRY.index(CONTENT[0])
SALT, REDACTED_AT = ENTRY.index("salt"), ENTRY.index("redacted_at")
CHUNKS, HASH = REVISION.index("chunks"), REVISION.index("hash")

PART_BYTES = 2**20
PART_REVISIONS = 512
"""A part ends before the revision with which it would hold more, or so many bytes; it holds one at least."""

_PAGE = 256


@dataclass(frozen=True, slots=True)
class Extent:
    """A log, and what it held at one moment."""

    log_id: int
    uid: bytes
    name: str
    created_at: int
    meta: str | bytes | None
    entries: int
    revisions: int


@dataclass(frozen=True, slots=True)
class Place:
    """What of a log was read: up to a seq, a revision and a chunk."""

    seq: int = 0
    revision: int = -1
    chunk: int = 0


@dataclass(slots=True)
class Part:
    """Some revisions, with all that they brought in, and the branches that were forked from them."""

    branches: list[Row] = field(default_factory=list)
    entries: list[Row] = field(default_factory=list)
    chunks: list[Row] = field(default_factory=list)
    revisions: list[Row] = field(default_factory=list)


def extents(connection: Connection, names: Iterable[str] | None) -> list[Extent]:
    """The logs as they are now, or those of the names: by the times of their last entries, then by name.

    Raises `UnknownLogError`.
    """
    rows = connection.execute(
        "SELECT l.id, l.uid, l.name, l.created_at, l.meta, l.entry_count, l.revision_count FROM logs AS l"
        " LEFT JOIN entries AS e ON e.log_id = l.id AND e.seq = l.entry_count"
        " WHERE l.purged_at IS NULL ORDER BY coalesce(e.at, l.created_at), l.name"
    )
    found = [Extent(*row) for row in rows]
    if names is None:
        return found
    wanted = set(names)
    missing = wanted - {extent.name for extent in found}
    if missing:
        raise UnknownLogError(min(missing))
    return [extent for extent in found if extent.name in wanted]


def part_after(connection: Connection, path: str, extent: Extent, place: Place) -> tuple[Part, Place]:
    """The next part of a log after a place, and the place after it.

    Raises `UnknownLogError` where the log was purged meanwhile, `CorruptStoreError` where rows are missing.
    """
    if connection.execute("SELECT purged_at FROM logs WHERE id = ?", (extent.log_id,))[0][0] is not None:
        raise UnknownLogError(extent.name)
    part, begin, size = Part(), place.revision, 0
    waiting = _paged(connection, _ENTRIES, extent.log_id, place.seq, extent.entries)
    entry = next(waiting, None)
    for revision in _paged(connection, _REVISIONS, extent.log_id, place.revision, extent.revisions - 1):
        number = revision[0]
        if number != place.revision + 1:
            raise _missing(path, extent, f"revision {place.revision + 1}")
        came: list[Row] = []
        while entry is not None and entry[2] == number:
            if entry[0] != place.seq + len(came) + 1:
                raise _missing(path, extent, f"seq {place.seq + len(came) + 1}")
            came.append(entry)
            entry = next(waiting, None)
        weight = _weight(revision) + sum(map(_weight, came))
        if part.revisions and (size + weight > PART_BYTES or len(part.revisions) == PART_REVISIONS):
            break
        size += weight
        chunks = _new_chunks(connection, extent.log_id, revision, place.chunk)
        part.revisions.append(revision)
        part.entries += map(_bare, came)
        part.chunks += chunks
        place = Place(place.seq + len(came), number, chunks[-1][0] if chunks else place.chunk)
    if not part.revisions or (place.revision == extent.revisions - 1 and place.seq != extent.entries):
        raise _missing(path, extent, f"seq {place.seq + 1} or revision {place.revision + 1}")
    part.branches = connection.execute(_BRANCHES, (extent.log_id, begin, place.revision))
    return part, place


_ENTRIES = f"SELECT {', '.join(ENTRY)} FROM entries WHERE log_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
_REVISIONS = (
    f"SELECT {', '.join(REVISION)} FROM revisions WHERE log_id = ? AND number > ? AND number <= ?"
    " ORDER BY number LIMIT ?"
)
_BRANCHES = (
    f"SELECT {', '.join(BRANCH)} FROM branches WHERE log_id = ? AND coalesce(forked_from, 0) > ?"
    " AND coalesce(forked_from, 0) <= ? ORDER BY forked_from, name"
)


def _paged(connection: Connection, statement: str, log_id: int, after: int, last: int) -> Iterator[Row]:
    """Rows in order, read in pages of about as many bytes as a part has."""
    limit = 16
    while rows := connection.execute(statement, (log_id, after, last, limit)):
        yield from rows
        after = rows[-1][0]
        limit = min(_PAGE, 1 + PART_BYTES * len(rows) // (1 + sum(map(_weight, rows))))


def _weight(row: Row) -> int:
    return sum(len(value) for value in row if isinstance(value, (str, bytes)))


def _bare(entry: Row) -> Row:
    """An entry; a redacted one without the filler that keeps the size of what it held."""
    return entry if entry[REDACTED_AT] is None else (*entry[:SALT], None, *entry[SALT + 1 :])


def _new_chunks(connection: Connection, log_id: int, revision: Row, last: int) -> list[Row]:
    """The chunks that came with a revision: those that it lists and that no revision before it did."""
    if revision[CHUNKS] is None:
        return []
    numbers = sorted(number for number, _ in json.loads(revision[CHUNKS]) if number > last)
    rows = connection.execute(sql.CHUNKS, (log_id, json.dumps(numbers))) if numbers else []
    return sorted(rows)


def _missing(path: str, extent: Extent, what: str) -> CorruptStoreError:
    return CorruptStoreError(path, f"log {extent.name!r}", f"{what} is missing")
