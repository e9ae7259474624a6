"""Whether one log is what was committed to it: its chains walked, its views recomputed, its branches compared."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from msglog.codec import decode, from_column
from msglog.errors import MsgLogError
from msglog.history.operations import apply_patch, narrowed, parse_operation
from msglog.storage.catalog import described
from msglog.storage.engine import Connection, Row
from msglog.storage.hashes import chain_hash, content_hash, revision_hash
from msglog.storage.report import Kind, Report
from msglog.storage.rows import CONTENT
from msglog.storage.spans import Run, SpanSequence, count, decode_spans, extended, runs_of

PARENT_IS_MISSING = "its parent is missing"
OTHER_ENTRIES = "it counts other entries than it brought in"
NAMES_A_LOST_ENTRY = "its operation names an entry that is lost"
OF_OTHERS = frozenset({PARENT_IS_MISSING, OTHER_ENTRIES, NAMES_A_LOST_ENTRY})
"""Problems of a revision whose own row is what was stored, as far as it can be told."""
BRANCH_IS_MISSING = "it is missing, though revisions name it"

_PAGE = 500
_MOST_CHUNKS = 2000

_UNREADABLE = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError, MsgLogError)
"""What comes of rows that somebody else wrote."""


@dataclass(frozen=True, slots=True)
class Checked:
    """How far a log was checked: its last seq, the hash there (its uid before the first), and its last revision."""

    seq: int
    chain_hash: bytes
    revision: int


REVISION = (
    "number",
    "id",
    "replaces",
    "branch",
    "parent",
    "operation",
    "anchor",
    "chunks",
    "tail",
    "size",
    "appended",
    "meta",
    "at",
    "hash",
)
"""The columns of a revision, in the order in which its hash takes them; the last one is the hash."""

LOG = "id, uid, name, entry_count, revision_count, chain_hash, meta, purged_n, purged_root"
"""The columns of a log that its check takes."""


class _LostEntryError(LookupError):
    """An operation names an entry that is not there."""


class LogCheck:
    """One log, from where it was checked before."""

    def __init__(self, connection: Connection, report: Report, row: Row, since: Checked) -> None:
        self._connection = connection
        self._report = report
        self._since = since
        self._id, self._uid, self._name = row[:3]
        self._entry_count, self._revision_count, self._chain, self._meta, *self._purged = row[3:]
        self._there = array("q")  # seqs from there on, those that the log has
        self._came_with = array("q")  # of each of them, the number of its revision: it never falls
        self._chunks: dict[int, list[Run]] = {}  # those looked at last
        self._lines: dict[str, list[Any]] = {}  # branch -> its first revision's parent, and its newest revision

    def run(self) -> None:
        """Check everything."""
        self._report.logs += 1
        try:
            described(self._meta)
        except ValueError:
            self._problem("log", "description", "its title, tags and metadata cannot be read")
        if self._purged != [None, None]:
            self._problem("log", "the log", "it holds what only the receipt of a purged one does")
        self.walk()
        self._check_branches()

    def walk(self) -> None:
        """Check the entries and the revisions."""
        self._walk_entries()
        self._walk_revisions()

    def _problem(self, kind: Kind, key: int | str, what: str) -> None:
        self._report.add(self._name, kind, key, what)

    def _pages(self, statement: str, first: int) -> Iterator[Row]:
        at = first
        while rows := self._connection.execute(statement, (self._id, at, _PAGE)):
            yield from rows
            at = rows[-1][0]

    def _walk_entries(self) -> None:
        columns = f"seq, n, id, revision, at, salt, content_hash, chain_hash, redacted_at, {', '.join(CONTENT)}"
        chained: bytes | None = self._since.chain_hash
        last, last_n = self._since.seq, 0
        statement = f"SELECT {columns} FROM entries WHERE log_id = ? AND seq > ? ORDER BY seq LIMIT ?"
        for row in self._pages(statement, last):
            seq, n = row[:2]
            self._report.entries += 1
            if seq != last + 1:
                self._problem("entry", last + 1, _missing("entry", last + 1, seq))
                chained = None  # what the row's hash is chained to is gone
            if n <= last_n:
                self._problem("entry", seq, "it was committed before the entry before it")
            try:
                self._check_entry(row, chained)
            except _UNREADABLE:
                self._problem("entry", seq, "the row cannot be read")
            chained, last, last_n = row[7], seq if isinstance(seq, int) else last + 1, n
        if last != self._entry_count:
            self._problem("log", "entry_count", f"the log ends at seq {last}, but counts {self._entry_count} entries")
        if chained != self._chain and last == self._entry_count:
            self._problem("log", "chain_hash", f"the log's last hash is not that of seq {last}")

    def _check_entry(self, row: Row, previous: bytes | None) -> None:
        """An entry against its hashes, that of the entry before it among them."""
        seq, _, entry_id, revision, at, salt, hashed, chained, redacted_at, *content = row
        if redacted_at is None:
            if not isinstance(salt, bytes) or content_hash(salt, content) != hashed:
                self._problem("entry", seq, "the content is not what was stored")
        else:
            self._report.redacted += 1
            bare = content[5] is None or all(not call.get("args") for call in decode(from_column(content[5])))
            if any(content[i] is not None for i in (2, 3, 4, 7, 8, 9)) or not bare or (salt or b"").strip(b"\0"):
                self._problem("entry", seq, "a redacted entry holds content")
        header = (seq, entry_id, content[0], content[1], at, revision)
        if previous is not None and chain_hash(previous, self._uid, header, hashed) != chained:
            self._problem("entry", seq, "the entry, or the one before it, is not what was stored")
        if revision < (self._came_with[-1] if self._came_with else self._since.revision + 1):
            self._problem("entry", seq, "it came with an older revision than the entry before it")
        place = array("q", (seq, revision))
        self._there.append(place[0])
        self._came_with.append(place[1])

    def _walk_revisions(self) -> None:
        last = self._since.revision
        statement = (
            f"SELECT {', '.join(REVISION)} FROM revisions WHERE log_id = ? AND number > ? ORDER BY number LIMIT ?"
        )
        for row in self._pages(statement, last):
            number = row[0]
            self._report.revisions += 1
            if number != last + 1:
                self._problem("revision", last + 1, _missing("revision", last + 1, number))
            last = number if isinstance(number, int) else last + 1
            try:
                self._check_revision(dict(zip(REVISION, row, strict=True)))
            except _LostEntryError:
                self._problem("revision", number, NAMES_A_LOST_ENTRY)
            except _UNREADABLE:
                self._problem("revision", number, "its view or its operation cannot be read")
        if last + 1 != self._revision_count:
            self._problem(
                "log", "revision_count", f"the log ends at revision {last}, but counts {self._revision_count} revisions"
            )
        if self._came_with and self._came_with[-1] > last:
            self._problem("revision", self._came_with[-1], "entries came with it, but it is missing")

    def _check_revision(self, revision: dict[str, Any]) -> None:
        """A revision against its hash, its parent and its operation."""
        number, parent, branch = revision["number"], revision["parent"], revision["branch"]
        self._lines.setdefault(branch, [parent, number])[1] = number
        before = None if parent is None else self._revision(parent)
        if parent is not None and (before is None or parent >= number):
            self._problem("revision", number, PARENT_IS_MISSING)
        elif revision_hash(before["hash"] if before else self._uid, list(revision.values())[:-1]) != revision["hash"]:
            self._problem("revision", number, "it, or its parent, is not what was stored")
        else:
            self._check_view(number, revision, before)

    def _revision(self, number: int) -> dict[str, Any] | None:
        rows = self._connection.execute(
            f"SELECT {', '.join(REVISION)} FROM revisions WHERE log_id = ? AND number = ?", (self._id, number)
        )
        return dict(zip(REVISION, rows[0], strict=True)) if rows else None

    def _check_view(self, number: int, revision: dict[str, Any], before: dict[str, Any] | None) -> None:
        """The stored view against the parent's view and the operation."""
        held = self._brought_in(revision["number"])
        if before is not None and revision["operation"] is None:
            # The usual case, at the cost of the tail: the chunks that the parent lists too were looked at already.
            listed, known = self._unshared(revision, before)
            base = known[0][1] if known else before["size"] - count(decode_spans(before["tail"]))
            runs, shown = list(self._runs(revision, listed, base)), revision["size"] - base
            expected = extended(list(self._runs(before, known, base)), runs_of(held))
        else:
            runs, shown = list(self._view(revision).runs()), revision["size"]
            expected = self._expected(revision, before)
        if revision["appended"] != len(held) + (0 if before is None else before["appended"]):
            self._problem("revision", number, OTHER_ENTRIES)
            return
        if count(runs) != shown:
            self._problem("revision", number, f"it shows {count(runs)} entries, but counts {shown}")
        if _joined(runs) != _joined(expected):
            self._problem("revision", number, "its view is not what its operation makes of its parent's")
        if any(one[1] >= other[0] for one, other in pairwise(sorted(runs))):
            self._problem("revision", number, "it shows an entry twice")

    def _listed(self, revision: dict[str, Any]) -> list[list[int]]:
        """What the revision's anchor lists: chunks, each with the position of its first entry."""
        anchor = revision if revision["chunks"] is not None else self._revision(revision["anchor"])
        if anchor is None or anchor["chunks"] is None or anchor["number"] != revision["anchor"]:
            raise KeyError("anchor")
        listed: list[list[int]] = json.loads(anchor["chunks"])
        return listed

    def _unshared(self, revision: dict[str, Any], before: dict[str, Any]) -> tuple[list[list[int]], list[list[int]]]:
        """The chunks that a revision and its parent list after those that both begin with."""
        if revision["anchor"] == before["anchor"]:
            return [], []
        listed, known = self._listed(revision), self._listed(before)
        shared = next((i for i, (one, other) in enumerate(zip(listed, known, strict=False)) if one != other), None)
        if shared is None:
            shared = min(len(listed), len(known))
        return listed[shared:], known[shared:]

    def _view(self, revision: dict[str, Any]) -> SpanSequence:
        return SpanSequence([], self._runs(revision, self._listed(revision), 0))

    def _runs(self, revision: dict[str, Any], chunks: list[list[int]], position: int) -> Iterator[Run]:
        """The runs of chunks and then of the tail, each of which must stand where it says."""
        for number, start in chunks:
            runs = self._chunk(number)
            if start != position:
                raise ValueError("a chunk stands elsewhere")
            position += count(runs)
            yield from runs
        _check_positions(revision["tail"], position)
        yield from decode_spans(revision["tail"])

    def _chunk(self, number: int) -> list[Run]:
        runs = self._chunks.get(number)
        if runs is None:
            rows = self._connection.execute(
                "SELECT spans FROM chunks WHERE log_id = ? AND chunk = ?", (self._id, number)
            )
            _check_positions(rows[0][0], 0)
            if len(self._chunks) >= _MOST_CHUNKS:
                self._chunks.clear()
            runs = self._chunks[number] = decode_spans(rows[0][0])
        return runs

    def _expected(self, revision: dict[str, Any], before: dict[str, Any] | None) -> list[tuple[int, int]]:
        operation = None if revision["operation"] is None else decode(revision["operation"])
        if operation is not None and operation.get("entryIds") is not None and operation["type"] != "append":
            return runs_of(self._seqs(operation["entryIds"]))
        if before is None:
            return []
        if operation is not None and operation.get("revision") is not None:
            rows = self._connection.execute(
                "SELECT number FROM revisions WHERE log_id = ? AND id = ?", (self._id, operation["revision"])
            )
            target = self._revision(rows[0][0]) if rows else None
            if target is None:
                raise KeyError("the revision that it went back to")
            return list(self._view(target).runs())
        view = self._view(before)
        if operation is None:
            return [*view.runs(), *runs_of(self._brought_in(revision["number"]))]
        parsed = parse_operation(operation)
        if parsed.type == "append":
            return [*view.runs(), *runs_of(self._seqs(list(parsed.entry_ids or ())))]
        named: dict[str, int] = {}

        def key(entry_id: str) -> int:
            if entry_id not in named:
                named[entry_id] = self._seqs([entry_id])[0]
            return named[entry_id]

        for patch in parsed.patches:
            kept, absent = narrowed(patch, lambda i: key(i) in view)
            if absent or kept is None:
                raise ValueError("it edits an entry that its parent does not show")
            apply_patch(view, kept, key)
        return list(view.runs())

    def _brought_in(self, number: int) -> Sequence[int]:
        """The seqs of the entries that came with a revision."""
        return self._there[bisect_left(self._came_with, number) : bisect_right(self._came_with, number)]

    def _seqs(self, ids: list[str]) -> list[int]:
        seqs = []
        for entry_id in ids:
            rows = self._connection.execute("SELECT seq FROM entries WHERE log_id = ? AND id = ?", (self._id, entry_id))
            if not rows:
                raise _LostEntryError(entry_id)
            seqs.append(rows[0][0])
        return seqs

    def _check_branches(self) -> None:
        rows = self._connection.execute(
            "SELECT b.name, b.head, b.forked_from, r.number FROM branches AS b"
            " LEFT JOIN revisions AS r ON r.log_id = b.log_id AND r.number = b.head WHERE b.log_id = ?",
            (self._id,),
        )
        for name in sorted({"main", *filter(_is_text, self._lines)} - {row[0] for row in rows}):
            self._problem("branch", name, BRANCH_IS_MISSING)
        for name, head, forked_from, found in rows:
            if not _is_text(name):
                self._problem("branch", str(name), "its name is no text")
                continue
            began, newest = self._lines.get(name, (forked_from, forked_from))
            if found is None:
                self._problem("branch", name, f"its head, revision {head}, is missing")
            elif head != newest:
                self._problem("branch", name, "its head is not its newest revision")
            if forked_from != began:
                self._problem("branch", name, "it was forked from another revision")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _missing(what: str, first: int, after: object) -> str:
    more = after - first - 1 if isinstance(after, int) else 0
    return f"the {what} is missing" if more <= 0 else f"it and the {more} after it are missing"


def _joined(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in runs:
        if joined and joined[-1][1] == first - 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def _check_positions(spans: str, position: int) -> None:
    for span in json.loads(spans):
        if span[0] != position:
            raise ValueError("a span stands elsewhere")
        position += span[-1] - span[1] + 1
