"""The full-text index: which entries hold which words.

It lies in blocks, each an FTS5 table for as many numbers `n` of entries, so that an erasure takes away one block and
not the whole. Blocks are derived: whoever drops one loses nothing but the time to make it again. Nothing is ever
deleted from one: what FTS5 deletes it keeps, and its `secure-delete` makes files that an SQLite below 3.42 cannot read.
Words are kept without their places (`detail=none`), in half the room: who finds an entry looks at it anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msglog.codec import decode, from_column
from msglog.search.folding import folded, index_words
from msglog.search.reading import readable_texts
from msglog.storage.engine import Connection, DriverError, Row
from msglog.storage.requests import IndexWords
from msglog.storage.transaction import Transaction

Execute = Callable[..., list[Row]]

BLOCK = 2**16
"""Numbers of entries that a block is for: what an erasure makes the next search index anew, in a few seconds."""
STEP_ROWS = 1000
STEP_BYTES = 2 * 2**20
"""Entries, and bytes of their words, that one transaction brings into the index: some 25 ms, for which appends wait."""

READ = ("name", "text", "parts", "tool_calls")
"""The columns of entries in which words are searched."""

_SHADOWS = {
    "data": "(id INTEGER PRIMARY KEY, block BLOB)",
    "idx": "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
    "docsize": "(id INTEGER PRIMARY KEY, sz BLOB)",
    "config": "(k PRIMARY KEY, v) WITHOUT ROWID",
}
"""The tables that FTS5 makes for one of its own."""

LAST_N = "SELECT coalesce(max(n), 0) FROM entries"
_LIVE = "FROM entries WHERE n > ? AND n <= ? AND redacted_at IS NULL"
_WORDS_OF = f"SELECT log_id, role, {', '.join(READ)} FROM entries WHERE n = ?"


def definition(block: int) -> str:
    """The statement that makes a block. A change of the words that are indexed changes the column's name."""
    return (
        f"CREATE VIRTUAL TABLE search_{block} USING fts5"
        "(words_1, content='', detail=none, tokenize=\"ascii tokenchars '/'\")"
    )


def texts_of(name: Any, text: Any, parts: Any, calls: Any) -> list[str]:
    """The texts that are searched, of the `READ` columns of an entry; none where they cannot be read."""
    try:
        content = text if parts is None else decode(from_column(parts))
        listed = [] if calls is None else decode(from_column(calls))
        return readable_texts(None if name is None else from_column(name), content, listed)
    except (ValueError, TypeError, LookupError, AttributeError):
        return []  # `verify` finds it


def words_of(row: Row) -> str:
    """The words that the index holds of an entry, of its log's id, its role and its `READ` columns."""
    log_id, role, *columns = row
    return " ".join(sorted(index_words(map(folded, texts_of(*columns))).union(_marks(log_id, role))))


def _marks(log_id: int | None, role: str | None) -> list[str]:
    """The words that stand for a log and for a role: no text has them, since they begin with a sign."""
    return [f"/{mark}" for mark in (log_id, role) if mark is not None]


# How far it goes


def has_fts5(connection: Connection) -> bool:
    """Whether the SQLite library can read and make an index."""
    return bool(connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"))


def reached(execute: Execute, block: int) -> int:
    """The last number that a block holds; the one before its first where it is missing, or not as we make it."""
    names = [f"search_{block}_{shadow}" for shadow in _SHADOWS]
    sound = execute(
        f"SELECT (SELECT sql = ? FROM sqlite_master WHERE name = 'search_{block}') AND"
        f" (SELECT count(*) = {len(names)} FROM sqlite_master WHERE name IN ({', '.join('?' * len(names))}))",
        (definition(block), *names),
    )[0][0]
    last = execute(f"SELECT max(id) FROM search_{block}_docsize")[0][0] if sound else None
    return block * BLOCK - 1 if last is None else int(last)


@dataclass(frozen=True, slots=True)
class Gap:
    """Entries that a block lacks: those after a number, up to another."""

    block: int
    after: int
    end: int


def gap(connection: Connection, end: int | None, most: int) -> tuple[int, Gap | None]:
    """The oldest gap up to the number `end` (the store's last), and that number; no gap where `most` entries lack."""
    if end is None:
        end = connection.execute(LAST_N)[0][0]
    oldest: Gap | None = None
    if has_fts5(connection):
        lacking = 0
        for block in range(end // BLOCK + 1):
            found = Gap(block, reached(connection.execute, block), min(end, block * BLOCK + BLOCK - 1))
            count = connection.execute(
                f"SELECT count(*) FROM (SELECT 1 {_LIVE} LIMIT ?)", (found.after, found.end, most + 1)
            )[0][0]
            lacking += count
            oldest = oldest or (found if count else None)
            if lacking > most:
                return end, oldest
    return end, None


def lacking(connection: Connection) -> int:
    """How many entries the index does not hold yet."""
    end = connection.execute(LAST_N)[0][0]
    found = 0
    for block in range(end // BLOCK + 1):
        after = reached(connection.execute, block)
        last = min(end, block * BLOCK + BLOCK - 1)
        found += connection.execute(f"SELECT count(*) {_LIVE}", (after, last))[0][0]
    return found


def candidates(
    connection: Connection,
    block: int,
    below: int,
    words: Sequence[tuple[str, bool]],
    log_id: int | None,
    role: str | None,
    limit: int,
) -> list[int]:
    """The newest entries of a block, below a number, that hold all words, or words that begin so: newest first."""
    asked = [f'"{mark}"' for mark in _marks(log_id, role)]
    asked += [f'"{word}"{" *" if beginning else ""}' for word, beginning in words]
    if asked:
        rows = connection.execute(
            f"SELECT rowid FROM search_{block} WHERE search_{block} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
            (" AND ".join(asked), below, limit),
        )
    else:  # signs alone
        rows = connection.execute(
            f"SELECT id FROM search_{block}_docsize WHERE id < ? ORDER BY id DESC LIMIT ?", (below, limit)
        )
    return [n for (n,) in rows]


# Bringing in


def read_words(connection: Connection, after: int, end: int, limit: int) -> list[tuple[int, str]]:
    """The words of the next entries after a number, with their own."""
    rows = connection.execute(f"SELECT n {_LIVE} ORDER BY n LIMIT ?", (after, end, limit))
    return [(n, words_of(connection.execute(_WORDS_OF, (n,))[0])) for (n,) in rows]


def bring_in(transaction: Transaction, request: IndexWords) -> bool:
    """Put words into a block; False where others came first, or an entry was erased since they were read."""
    execute = transaction.execute
    if reached(execute, request.block) != request.after:
        return False
    last = request.words[-1][0]
    if execute(f"SELECT count(*) {_LIVE}", (request.after, last))[0][0] != len(request.words):
        return False
    if request.after < request.block * BLOCK:
        drop(execute, request.block)
        execute(definition(request.block))
    transaction.connection.executemany(
        f"INSERT INTO search_{request.block} (rowid, words_1) VALUES (?, ?)", request.words
    )
    transaction.wrote_what(f"SELECT 1 FROM search_{request.block}_docsize WHERE id = ?", last)
    return True


# Taking away


def blocks(execute: Execute) -> list[int]:
    """The blocks of which there is anything in the file."""
    names = execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'search_[0-9]*'")
    numbers = {name.removeprefix("search_").split("_")[0] for (name,) in names}
    return sorted(int(number) for number in numbers if number.isdecimal())


def drop(execute: Execute, block: int) -> None:
    """Take a block away, also one that is damaged, or that the library cannot read."""
    try:
        execute(f"DROP TABLE IF EXISTS search_{block}")
    except DriverError:
        # What is left of it must be complete for FTS5 to let it go.
        for shadow in _SHADOWS:
            execute(f"DROP TABLE IF EXISTS search_{block}_{shadow}")
        if execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"):
            for shadow, columns in _SHADOWS.items():
                execute(f"CREATE TABLE search_{block}_{shadow}{columns}")
            execute(f"INSERT INTO search_{block}_config VALUES ('version', 4)")
            execute(f"DROP TABLE search_{block}")
    for shadow in _SHADOWS:
        execute(f"DROP TABLE IF EXISTS search_{block}_{shadow}")


def forget(execute: Execute, firsts: Iterable[int]) -> None:
    """Take away the blocks that hold words of erased entries, given the first of each block, or may hold them."""
    erased = {n // BLOCK: n for n in firsts}
    for block in blocks(execute):
        ours = execute("SELECT 1 FROM sqlite_master WHERE sql = ?", (definition(block),))
        if ours and (block not in erased or block * BLOCK <= reached(execute, block) < erased[block]):
            continue
        drop(execute, block)
