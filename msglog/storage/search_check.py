"""Whether the full-text index holds the words that the entries do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from zlib import crc32

from msglog.storage import search_index as index
from msglog.storage.engine import Connection, DriverError

_PAGE = 500
_WEIGHT = "(doc * 2654435761) % 4294967291"


def _weight(n: int) -> int:
    return (n * 2654435761) % 4294967291


def check(connection: Connection) -> Iterator[tuple[str, str]]:
    """The tables of the index that are wrong, and how: all their pairs of word and entry sum up as the entries' do."""
    if not index.has_fts5(connection):
        return
    for block in index.blocks(connection.execute):
        last = index.reached(connection.execute, block)
        if last < block * index.BLOCK:
            continue  # not as we make it: no search uses it
        try:
            sound = _held(connection, block) == _expected(connection, block, last)
        except DriverError as error:
            yield f"search_{block}", f"SQLite cannot read it ({error.code})"
        else:
            if not sound:
                yield f"search_{block}", "it holds other words than the entries"


def _held(connection: Connection, block: int) -> int:
    total, after = 0, ""
    connection.execute(f"CREATE VIRTUAL TABLE temp.search_words USING fts5vocab(main, search_{block}, instance)")
    try:
        while rows := connection.execute(
            f"SELECT term, sum({_WEIGHT}) FROM temp.search_words WHERE term > ? GROUP BY term LIMIT {_PAGE}", (after,)
        ):
            total += sum(crc32(term.encode()) * weights for term, weights in rows)
            after = rows[-1][0]
    finally:
        with suppress(DriverError):
            connection.execute("DROP TABLE temp.search_words")
    return total


def _expected(connection: Connection, block: int, last: int) -> int:
    total, after = 0, block * index.BLOCK - 1
    while page := index.read_words(connection, after, last, _PAGE):
        total += sum(_weight(n) * sum(crc32(word.encode()) for word in words.split(" ")) for n, words in page)
        after = page[-1][0]
    return total
