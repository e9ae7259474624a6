"""The one body of a commit: requests become rows. Plain synchronous code, run between BEGIN and COMMIT.

A request is checked and worked out before anything of it is taken over, so that one that fails leaves the
others of its group untouched. The rows of appends are buffered and written together by `flush`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from msglog.codec import encode
from msglog.errors import DuplicateEntryError, UnknownBranchError, UnknownEntryError, UnknownLogError
from msglog.ids import new_id
from msglog.storage import statements as sql
from msglog.storage.chunks import chunks_of
from msglog.storage.engine import Connection
from msglog.storage.hashes import new_bytes
from msglog.storage.ledger import Head, Ledger, LogState, head_of, now_us
from msglog.storage.line import Line, begin, check_expected
from msglog.storage.lineage import head_row
from msglog.storage.requests import Append, Appended
from msglog.storage.rows import CONTENT, Draft
from msglog.storage.spans import TAIL_SPANS, Part, Run, SpanSequence, count, decode_spans, extended

MOST_LOGS = 1000
"""Logs of which the ledger knows from one transaction to the next; one group names at most 256 more."""


class Transaction:
    """Requests, one after another, within one database transaction."""

    def __init__(self, connection: Connection, ledger: Ledger, path: str) -> None:
        self.connection = connection
        self.execute = connection.execute
        if len(ledger.logs) > MOST_LOGS:
            ledger.logs.clear()
        self.ledger = ledger
        self.path = path
        self._entries: list[tuple[Any, ...]] = []
        self._revisions: list[tuple[Any, ...]] = []
        self._chunks: list[tuple[Any, ...]] = []
        self._moved: dict[tuple[int, str], Head] = {}
        self._grown: dict[int, LogState] = {}
        self._pending: dict[tuple[int, str], tuple[Any, ...]] = {}
        self._witness: tuple[str, tuple[Any, ...]] = ("SELECT 1 WHERE 0", ())
        self.wrote = False
        self.erased = False

    def wrote_what(self, finds: str, *parameters: Any) -> None:
        """Note that something was written, and a query that finds a row only if it is stored."""
        self.wrote = True
        self._witness = finds, parameters

    def is_stored(self, connection: Connection) -> bool:
        """Whether another connection sees this transaction."""
        return bool(connection.execute(*self._witness))

    def flush(self) -> None:
        """Write what is buffered."""
        if not self._grown:
            return
        many = self.connection.executemany
        self.wrote_what(sql.REVISION_IS_STORED, *self._revisions[-1][:3])
        if self._entries:
            many(sql.INSERT_ENTRY, self._entries)
        if self._chunks:
            many(sql.INSERT_CHUNK, self._chunks)
        many(sql.INSERT_REVISION, self._revisions)
        self._move_heads()
        self._entries, self._revisions, self._chunks = [], [], []
        self._moved, self._grown, self._pending = {}, {}, {}

    def _move_heads(self) -> None:
        many = self.connection.executemany
        many(
            sql.UPDATE_LOG,
            [(s.entry_count, s.revision_count, s.chain_hash, s.id) for s in self._grown.values()],
        )
        many(sql.UPDATE_BRANCH, [(head.number, *key) for key, head in self._moved.items()])

    # State

    def log(self, name: str) -> LogState | None:
        """What is known of a log; None where it does not exist yet."""
        state = self.ledger.logs.get(name)
        if state is None:
            rows = self.execute(sql.LOG, (name,))
            if not rows:
                return None
            state = LogState(*rows[0])
            self.ledger.logs[name] = state
        return state

    def known_log(self, name: str) -> LogState:
        """What is known of a log; `UnknownLogError` where it does not exist."""
        state = self.log(name)
        if state is None:
            raise UnknownLogError(name)
        return state

    def head(self, log: str, state: LogState, branch: str) -> Head:
        """The head of a branch; `UnknownBranchError`."""
        head = state.heads.get(branch)
        if head is None:
            head = head_of(head_row(self.connection, self.path, log, state.id, branch))
            state.heads[branch] = head
        return head

    def line(self, log: str, branch: str, *, scratch: bool = True) -> Line:
        """The branch to extend; for a log that does not exist yet, one that begins with a root.

        It works on a copy of what is known of the log, unless what follows cannot fail any more.
        """
        state = self.log(log)
        if state is not None:
            head = self.head(log, state, branch)
            return Line(log, branch, replace(state) if scratch else state, head)
        if branch != "main":
            raise UnknownBranchError(log, branch)
        uid = new_bytes()
        return Line(log, branch, LogState(0, uid, 0, 0, uid), Head(-1, "", b"", 0, [], 0, 0, []))

    def last_n(self) -> int:
        """The number of the store's last entry."""
        if self.ledger.last_n is None:
            self.ledger.last_n = max(n or 0 for n in self.execute(sql.LAST_N)[0])
        return self.ledger.last_n

    def next_chunk(self, line: Line) -> None:
        """Have the line know the number of its next chunk."""
        if line.state.next_chunk is None:
            last = self.execute(sql.LAST_CHUNK, (line.state.id,))[0][0] if line.state.id else None
            line.state.next_chunk = (last or 0) + 1

    def view(self, line: Line) -> SpanSequence:
        """The view of the line's head, to be changed. Some of its chunks may still be rows in the making."""
        return self.view_of(line.state.id, line.head, line.making)

    def view_of(self, log_id: int, head: Head, making: Mapping[int, str] | None = None) -> SpanSequence:
        """The view of a revision, to be changed; `making` are spans of chunks that are not written yet."""
        numbers = [chunk for chunk, _ in head.chunks]
        runs = self._runs(log_id, numbers, making or {})
        return SpanSequence([Part(runs[n], n) for n in numbers], head.tail)

    def _runs(self, log_id: int, numbers: Sequence[int], making: Mapping[int, str]) -> dict[int, list[Run]]:
        """The runs of chunks, of which some may not be written yet."""
        self.flush()
        stored = [n for n in numbers if n not in making]
        return {n: decode_spans(spans) for n, spans in making.items()} | chunks_of(self.connection, log_id, stored)

    def accept(self, line: Line) -> None:
        """Take over what a line came to."""
        ledger, state = self.ledger, line.state
        if state.id == 0:
            self._found(line)
            state = line.state
        n = self.last_n() if line.entries else 0
        for row in line.entries:
            n += 1
            self._entries.append((n, *row))
            self._pending[state.id, row[2]] = row
        if line.entries:
            ledger.last_n = n
        self._revisions += line.revisions
        self._chunks += line.chunks
        state.heads[line.branch] = line.head
        ledger.logs[line.log] = state
        self._grown[state.id] = state
        self._moved[state.id, line.branch] = line.head
        self.wrote = True

    def _found(self, line: Line) -> None:
        """Insert the row of a log that is new, its root and its main branch."""
        state = line.state
        now = now_us()
        rows = self.execute(sql.INSERT_LOG, (state.uid, line.log, now, 0, 0, state.uid))
        state.id = rows[0][0]
        first = line.revisions[0]
        line.entries = [(state.id, *row[1:]) for row in line.entries]
        line.chunks = [(state.id, *row[1:]) for row in line.chunks]
        line.revisions = [(state.id, *row[1:]) for row in line.revisions]
        self.connection.executemany(sql.INSERT_REVISION, [line.revisions.pop(0)])
        self.execute(sql.INSERT_BRANCH, (state.id, "main", first[1], None, now))

    # Append

    def append(self, request: Append) -> Appended:
        """Put entries at the end of a branch; those that count as appended already are only looked up."""
        line = self.line(request.log, request.branch, scratch=False)
        seqs: list[int] = []
        new: list[Draft] = []
        position: dict[str, int] = {}
        for item in request.drafts:
            known = None if item.fresh else self._already(line, item, new, position)
            if known is None:
                position[item.entry.id] = len(new)
                new.append(item)
                known = line.state.entry_count + len(new)
            seqs.append(known)
        if not new:  # a retry: what it expected was judged when it was stored
            return Appended(seqs, [], None)
        check_expected(line, request.expected_seq, request.expected_head)
        if line.state.id == 0:
            begin(line, new_id(), now_us())
        first = line.state.entry_count + 1
        shown = self.shown(line, [(first, first + len(new) - 1)])  # may read, so before anything is taken over
        line.bring_in(new)
        revision = new_id()
        line.add_revision(revision, None, new[0].at, request.meta, *shown)
        self.accept(line)
        return Appended(seqs, line.new, revision)

    def shown(self, line: Line, runs: list[Run]) -> tuple[SpanSequence | None, list[Run], int]:
        """`runs` after what the line's head shows, as `add_revision` takes it: view, tail and size."""
        tail = extended(line.head.tail, runs)
        size = line.head.size + count(runs)
        view = None
        if len(tail) > TAIL_SPANS:
            self.next_chunk(line)
            view = SpanSequence([Part([], number) for number, _ in line.head.chunks], tail)
            ends = [*(start for _, start in line.head.chunks[1:]), size - count(tail)]
            for part, (_, start), end in zip(view.chunks, line.head.chunks, ends, strict=False):
                part.size = end - start  # unchanged chunks are named, not read
            if view.chunks:  # but for the last, which may have room for the tail
                last = line.head.chunks[-1][0]
                view.chunks[-1].runs = self._runs(line.state.id, [last], line.making)[last]
        return view, tail, size

    def _already(self, line: Line, item: Draft, new: list[Draft], position: dict[str, int]) -> int | None:
        """The seq of an entry that counts as appended already; `DuplicateEntryError` where its id is taken."""
        entry_id = item.entry.id
        if entry_id in position:
            if new[position[entry_id]].content != item.content:
                raise DuplicateEntryError(entry_id, "twice in one batch with different content")
            return line.state.entry_count + 1 + position[entry_id]
        found = self.stored(line.state.id, entry_id)
        if found is None:
            return None
        seq, revision, redacted_at, *content = found
        if redacted_at is not None:
            raise DuplicateEntryError(entry_id, "its entry was redacted")
        if tuple(content) != item.content:
            raise DuplicateEntryError(entry_id, "it is stored with other content, or other metadata")
        if (line.state.id, entry_id) in self._pending and any(
            row[0] == line.state.id and row[1] == revision and row[4] == line.branch for row in self._revisions
        ):
            return int(seq)
        self.flush()
        if self.execute(sql.BRANCH_OF, (line.state.id, revision))[0][0] == line.branch:
            return int(seq)
        if seq in self.view(line):
            return int(seq)
        raise DuplicateEntryError(entry_id, "it was appended through another branch")

    def stored(self, log_id: int, entry_id: str) -> tuple[Any, ...] | None:
        """The seq, revision, time of redaction and content of an entry id, or None."""
        pending = self._pending.get((log_id, entry_id))
        if pending is not None:
            _, seq, _, revision, *rest = pending
            return seq, revision, None, *rest[: len(CONTENT)]
        rows = self.execute(sql.ENTRY_CONTENT, (log_id, entry_id)) if log_id else []
        return rows[0] if rows else None

    def seqs(self, line: Line, ids: Sequence[str]) -> list[int]:
        """The seqs of entries of the log; all are known to the line afterwards."""
        unknown = [i for i in ids if i not in line.seqs]
        if unknown and line.state.id:
            line.seqs.update(self.execute(sql.SEQS_OF_IDS, (line.state.id, encode(unknown))))
        for entry_id in unknown:
            if entry_id not in line.seqs:
                raise UnknownEntryError(entry_id, f"log {line.log!r}")
        return [line.seqs[i] for i in ids]

    def seq(self, line: Line, entry_id: str) -> int:
        """The seq of an entry of the log."""
        return self.seqs(line, (entry_id,))[0]
