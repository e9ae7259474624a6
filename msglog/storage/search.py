"""Searching: the index narrows down which entries are looked at, newest first; each is then read and judged.

Entries that the index does not hold yet are looked at all the same, so that none is missed and a store that cannot
be written to is searched too. Where they are many, they are brought into the index first.
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import get_args

from msglog.checks import checked_count, checked_name
from msglog.errors import CorruptStoreError, StoreError
from msglog.message import Role
from msglog.search.context import Hit, context_of
from msglog.search.folding import folded
from msglog.search.query import Query
from msglog.storage import reader
from msglog.storage import search_index as index
from msglog.storage.access import Access
from msglog.storage.engine import Connection, DriverError
from msglog.storage.requests import IndexWords
from msglog.storage.rows import STORED, stored_message
from msglog.storage.spans import Run

UNINDEXED = 200
"""Entries outside the index that a search looks at rather than bring them in."""
PAGE = 200
"""Entries that a search looks at in one read, and brings into the index in one."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOOK = (
    f"SELECT l.name, {', '.join(f'e.{name}' for name in STORED)} FROM entries AS e JOIN logs AS l ON l.id = e.log_id"
    " WHERE e.n = ? AND e.redacted_at IS NULL AND (?2 IS NULL OR e.log_id = ?2) AND (?3 IS NULL OR e.role = ?3)"
    " AND (?4 IS NULL OR e.at >= ?4)"
)
_TEXTS = [1 + STORED.index(name) for name in index.READ]
_SEQ = 1 + STORED.index("seq")

_logger = logging.getLogger("msglog")


@dataclass(slots=True)
class Search:
    """What is looked for, where, and how far the search has come: all below the number `below` is left."""

    query: Query
    limit: int
    log: str | None
    branch: str | None
    role: str | None
    since: int | None
    prefix: str = ""
    log_id: int | None = None
    view: list[Run] | None = None
    below: int | None = None
    hits: list[Hit] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to look at, or enough was found."""
        return self.below == 0 or len(self.hits) >= self.limit


def checked_search(
    words: str,
    log: str | None,
    branch: str | None,
    role: str | None,
    since: datetime | None,
    limit: int,
    prefix: str = "",
) -> Search:
    """A search as it was asked for; `TypeError` or `ValueError` for what is no role, no time or no number."""
    if not isinstance(words, str):
        raise TypeError(f"words must be a str, not {type(words).__name__}")
    if log is not None:
        checked_name(log, "the name of a log")
    if role is not None and role not in get_args(Role):
        raise ValueError(f"role must be one of {', '.join(get_args(Role))}")
    if since is not None and not isinstance(since, datetime):
        raise TypeError(f"since must be a datetime, not {type(since).__name__}")
    if since is not None and since.tzinfo is None:
        raise ValueError("since must have a time zone, such as datetime.UTC")
    at = None if since is None else (since - _EPOCH) // timedelta(microseconds=1)
    return Search(Query(words), checked_count(limit, "limit"), log, branch, role, at, prefix)


async def search(access: Access, search: Search) -> list[Hit]:
    """The newest messages that match, newest first."""
    access.check()
    if not search.query.terms:
        return []
    if not search.done and await access.read(lambda connection: _is_long(connection, search.log)):
        await catch_up(access, UNINDEXED)
    while not search.done:
        await access.read(lambda connection: _look_on(connection, access.file.path, search))
    return search.hits


def _is_long(connection: Connection, log: str | None) -> bool:
    """Whether there is more to look at than is looked at without an index."""
    return log is None or reader.last_seq(connection, log) > UNINDEXED


# Looking


def _look_on(connection: Connection, path: str, search: Search) -> None:
    """Look at the next page of entries."""
    if search.below is None:
        _begin(connection, path, search)
    if search.below == 0:
        return
    for n in _next(connection, path, search):
        rows = connection.execute(_LOOK, (n, search.log_id, search.role, search.since))
        if not rows:
            continue
        log, *row = rows[0]
        if not log.startswith(search.prefix):
            continue
        if search.view is not None and not _holds(search.view, row[_SEQ - 1]):
            continue
        texts = index.texts_of(*(rows[0][i] for i in _TEXTS))
        forms = list(map(folded, texts))
        if search.query.matches(forms):
            message = stored_message(tuple(row), path, log)
            search.hits.append(Hit(log, message, context_of(search.query, texts, forms)))
            if len(search.hits) >= search.limit:
                return


def _begin(connection: Connection, path: str, search: Search) -> None:
    search.below = connection.execute(index.LAST_N)[0][0] + 1
    if search.log is None:
        return
    search.log_id = reader.log_id(connection, search.log)
    if search.branch is not None:
        state = reader.branch_state(connection, path, search.log, search.branch)
        search.view = [] if state is None else sorted(reader.runs_between(connection, state, 0, state.size))
    if search.log_id is None:
        search.below = 0


def _holds(view: Sequence[Run], seq: int) -> bool:
    at = bisect_right(view, (seq, 2**63)) - 1
    return at >= 0 and seq <= view[at][1]


def _next(connection: Connection, path: str, search: Search) -> list[int]:
    """The numbers of the next entries to look at, newest first: those not in the index, then those it knows of."""
    below = search.below or 0
    block = (below - 1) // index.BLOCK
    first = block * index.BLOCK
    after = index.reached(connection.execute, block) if index.has_fts5(connection) else first - 1
    if after < below - 1:
        numbers = _unindexed(connection, search, max(after, first - 1), below)
        rest = after + 1
    else:
        try:
            numbers = index.candidates(
                connection, block, below, search.query.indexed(), search.log_id, search.role, PAGE
            )
        except DriverError as error:
            if error.primary == "SQLITE_CORRUPT":
                what = "SQLite finds it malformed; Store.repair makes it anew"
                raise CorruptStoreError(path, "the search index", what) from error
            raise
        rest = first
    search.below = numbers[-1] if len(numbers) == PAGE else max(rest, 0)
    return numbers


def _unindexed(connection: Connection, search: Search, after: int, below: int) -> list[int]:
    if search.log_id is None:
        rows = connection.execute(
            "SELECT n FROM entries WHERE n > ? AND n < ? ORDER BY n DESC LIMIT ?", (after, below, PAGE)
        )
    else:
        # Within a log numbers rise with seqs, which lead to them without passing other logs' entries.
        last = connection.execute("SELECT coalesce(max(seq), 0) FROM entries WHERE log_id = ?", (search.log_id,))
        seqs = range(1, last[0][0] + 1)

        def number(seq: int) -> int:
            """That of the seq, or of the next one where it is lost."""
            query = "SELECT n FROM entries WHERE log_id = ? AND seq >= ? ORDER BY seq LIMIT 1"
            return int(connection.execute(query, (search.log_id, seq))[0][0])

        rows = connection.execute(
            "SELECT n FROM entries WHERE log_id = ? AND seq >= ? AND seq <= ? ORDER BY seq DESC LIMIT ?",
            (search.log_id, 1 + bisect_right(seqs, after, key=number), bisect_left(seqs, below, key=number), PAGE),
        )
    return [n for (n,) in rows]


# Bringing the index up to date


async def catch_up(access: Access, most: int = 0) -> None:
    """Bring what is committed into the index, but for at most `most` entries. Where that fails, it is logged."""
    if access.read_only:
        return
    file = access.file
    end: int | None = None
    while True:
        version = file.bell.version
        end, gap = await access.read(lambda connection: index.gap(connection, end, most))  # noqa: B023 awaited here
        if gap is None:
            return
        alone = file.indexing.acquire(blocking=False)
        if not alone and not access.blocks:
            await access.change(version)
            continue
        try:
            await _fill(access, gap)
        except StoreError as error:
            _logger.warning("the search index was not brought up to date: %s", error)
            return
        finally:
            if alone:
                file.indexing.release()
                file.bell.ring()  # others may wait for it


async def _fill(access: Access, gap: index.Gap) -> None:
    """One step: the words are read and cut beforehand, so that the writer has only to write them."""
    words: list[tuple[int, str]] = []
    after, size = gap.after, 0
    while len(words) < index.STEP_ROWS and size < index.STEP_BYTES:
        page = await access.read(lambda c: index.read_words(c, after, gap.end, PAGE))  # noqa: B023 awaited here
        if not page:
            break
        words += page
        after = page[-1][0]
        size += sum(len(text) for _, text in page)
    if words:
        await access.write(IndexWords(gap.block, gap.after, words, size))
