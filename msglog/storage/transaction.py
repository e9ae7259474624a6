"""The one body of a commit: requests become rows. Plain synchronous code, run between BEGIN and COMMIT.

A request is checked and worked out before anything of it is taken over, so that one that fails leaves the
others of its group untouched. The rows of appends are buffered and written together by `flush`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msglog.codec import FrozenDict, encode, to_column
from msglog.errors import (
    BranchExistsError,
    ConflictError,
    DuplicateEntryError,
    InvalidHistoryError,
    NotLoadedError,
    TooLargeError,
    UnknownBranchError,
    UnknownEntryError,
    UnknownLogError,
    UnknownRevisionError,
)
from msglog.history import MessageHistory, Revision
from msglog.history.operations import apply_patch, inserted_by, narrowed
from msglog.ids import checked_name, new_id
from msglog.storage import statements as sql
from msglog.storage.engine import Connection
from msglog.storage.hashes import chain_hash, content_hash, new_bytes, revision_hash
from msglog.storage.requests import (
    Append,
    Appended,
    Commit,
    Committed,
    Fork,
    Purge,
    PurgeReceipt,
    Redact,
    RedactReceipt,
    Request,
    Rewind,
)
from msglog.storage.rows import Draft, draft, moment, operation_column, redacted_calls
from msglog.storage.spans import TAIL_SPANS, Part, Run, SpanSequence, decode_spans, encode_spans, extended, runs_of

LINEAGE_PAGE = 64
"""Revisions of a history that are looked up in the log at once, newest first."""

ERASURE = "erasure"
"""The mark that says that erased content may still lie in the write-ahead log."""


@dataclass(slots=True)
class Head:
    """What is known of the revision that a branch is at."""

    number: int
    id: str
    hash: bytes
    anchor: int
    tail: list[Run]
    size: int
    appended: int
    chunks: list[list[int]]  # the anchor's: [chunk, position]


@dataclass(slots=True)
class LogState:
    """What is known of a log."""

    id: int
    uid: bytes
    entry_count: int
    revision_count: int
    chain_hash: bytes
    heads: dict[str, Head] = field(default_factory=dict)
    next_chunk: int | None = None


@dataclass(slots=True)
class Ledger:
    """What the writer knows of the file between transactions; nothing, once another connection wrote."""

    version: int = -1
    last_n: int | None = None
    logs: dict[str, LogState] = field(default_factory=dict)

    def forget(self) -> None:
        """Know nothing."""
        self.version = -1
        self.last_n = None
        self.logs.clear()


def now_us() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


class Line:
    """One branch as a request extends it: rows in the making, and the state that they lead to."""

    def __init__(self, log: str, branch: str, state: LogState, head: Head) -> None:
        self.log = log
        self.branch = branch
        self.state = state
        self.head = head
        self.entries: list[tuple[Any, ...]] = []  # without n, which is given when they are taken over
        self.revisions: list[tuple[Any, ...]] = []
        self.chunks: list[tuple[Any, ...]] = []
        self.new: list[tuple[Draft, int]] = []
        self.counted = 0
        self.seqs: dict[str, int] = {}

    def bring_in(self, drafts: Iterable[Draft]) -> None:
        """Give entries their seqs; the next revision is the one that they come in with."""
        state = self.state
        number = state.revision_count
        for item in drafts:
            state.entry_count += 1
            seq = state.entry_count
            entry = item.entry
            content = item.content
            salt = new_bytes()
            hashed = content_hash(salt, content)
            header = (seq, entry.id, content[0], content[1], item.at, number)
            state.chain_hash = chain_hash(state.chain_hash, state.uid, header, hashed)
            self.entries.append(
                (state.id, seq, entry.id, number, *content, item.at, salt, hashed, state.chain_hash, None, None)
            )
            self.new.append((item, seq))
            self.seqs[entry.id] = seq

    def add_revision(
        self,
        revision_id: str,
        operation: str | None,
        at: int,
        meta: FrozenDict,
        view: SpanSequence | None,
        tail: list[Run],
        size: int,
        replaces: str | None = None,
    ) -> None:
        """The next revision. Its view is the parent's chunks and `tail`, or `view` where chunks may change."""
        state, head = self.state, self.head
        number = state.revision_count
        anchor, chunks, stored = head.anchor, head.chunks, None
        if view is not None:
            view.settled()
            tail = view.tail.runs
            numbers = [part.number for part in view.chunks]
            if numbers != [chunk for chunk, _ in chunks]:
                chunks = self.stored_chunks(view.chunks)
                anchor, stored = number, encode(chunks)
        position = size - sum(last - first + 1 for first, last in tail)
        new = len(self.new_since_last)
        columns = (
            state.id,
            number,
            revision_id,
            replaces,
            self.branch,
            head.number,
            operation,
            anchor,
            stored,
            encode_spans(tail, position),
            size,
            head.appended + new,
            to_column(encode(meta)) if meta else None,
            at,
        )
        hashed = revision_hash(head.hash, columns[1:])
        self.revisions.append((*columns, hashed))
        self.head = Head(number, revision_id, hashed, anchor, tail, size, head.appended + new, chunks)
        self.counted = len(self.new)
        state.revision_count += 1

    @property
    def new_since_last(self) -> list[tuple[Draft, int]]:
        """The entries that the next revision brings in."""
        return self.new[self.counted :]

    def stored_chunks(self, parts: Sequence[Part]) -> list[list[int]]:
        """The list of chunks for an anchor; those that are new become rows."""
        listed: list[list[int]] = []
        position = 0
        for part in parts:
            if part.number is None:
                part.number = self.state.next_chunk or 1
                self.state.next_chunk = part.number + 1
                self.chunks.append((self.state.id, part.number, encode_spans(part.runs)))
            listed.append([part.number, position])
            position += part.size
        return listed


class Transaction:
    """Requests, one after another, within one database transaction."""

    def __init__(self, connection: Connection, ledger: Ledger, path: str) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._ledger = ledger
        self._path = path
        self._entries: list[tuple[Any, ...]] = []
        self._revisions: list[tuple[Any, ...]] = []
        self._chunks: list[tuple[Any, ...]] = []
        self._moved: dict[tuple[int, str], Head] = {}
        self._grown: dict[int, LogState] = {}
        self._pending: dict[tuple[int, str], tuple[Any, ...]] = {}
        self._witness: tuple[Any, ...] | None = None
        self.wrote = False
        self.erased = False

    def is_stored(self, connection: Connection) -> bool | None:
        """Whether another connection sees this transaction; None where it left nothing to tell by."""
        if self._witness is None:
            return None
        log_id, number, revision_id = self._witness
        rows = connection.execute(sql.REVISION_STATE, (log_id, number))
        return bool(rows) and rows[0][1] == revision_id

    def run(self, request: Request) -> Any:
        """Carry out one request. A `MsgLogError` leaves the transaction as it was."""
        if isinstance(request, Append):
            return self._append(request)
        self.flush()
        if isinstance(request, Commit):
            return self._commit(request)
        if isinstance(request, Fork):
            return self._fork(request)
        if isinstance(request, Rewind):
            return self._rewind(request)
        if isinstance(request, Redact):
            return self._redact(request)
        return self._purge(request)

    def flush(self) -> None:
        """Write what is buffered."""
        if not self._grown:
            return
        many = self._connection.executemany
        self._witness = self._revisions[-1][:3]
        if self._entries:
            many(sql.INSERT_ENTRY, self._entries)
        if self._chunks:
            many(sql.INSERT_CHUNK, self._chunks)
        many(sql.INSERT_REVISION, self._revisions)
        many(
            sql.UPDATE_LOG,
            [(s.entry_count, s.revision_count, s.chain_hash, s.id) for s in self._grown.values()],
        )
        many(sql.UPDATE_BRANCH, [(head.number, *key) for key, head in self._moved.items()])
        self._entries, self._revisions, self._chunks = [], [], []
        self._moved, self._grown, self._pending = {}, {}, {}

    # State

    def _log(self, name: str) -> LogState | None:
        state = self._ledger.logs.get(name)
        if state is None:
            rows = self._execute(sql.LOG, (name,))
            if not rows:
                return None
            state = LogState(*rows[0])
            if len(self._ledger.logs) >= 1000:
                self.flush()
                self._ledger.logs.clear()
            self._ledger.logs[name] = state
        return state

    def _known_log(self, name: str) -> LogState:
        state = self._log(name)
        if state is None:
            raise UnknownLogError(name)
        return state

    def _head(self, log: str, state: LogState, branch: str) -> Head:
        head = state.heads.get(branch)
        if head is None:
            rows = self._execute(sql.BRANCH_HEAD, (state.id, branch))
            if not rows:
                raise UnknownBranchError(log, branch)
            head = state.heads[branch] = _head(rows[0])
        return head

    def _line(self, log: str, branch: str, *, scratch: bool = True) -> Line:
        """The branch to extend; for a log that does not exist yet, one that begins with a root.

        It works on a copy of what is known of the log, unless what follows cannot fail any more.
        """
        state = self._log(log)
        if state is not None:
            head = self._head(log, state, branch)
            return Line(log, branch, replace(state) if scratch else state, head)
        if branch != "main":
            raise UnknownBranchError(log, branch)
        uid = new_bytes()
        return Line(log, branch, LogState(0, uid, 0, 0, uid), Head(-1, "", b"", 0, [], 0, 0, []))

    def _next_chunk(self, line: Line) -> None:
        if line.state.next_chunk is None:
            last = self._execute(sql.LAST_CHUNK, (line.state.id,))[0][0] if line.state.id else None
            line.state.next_chunk = (last or 0) + 1

    def _view(self, line: Line) -> SpanSequence:
        """The view of the line's head, to be changed. Some of its chunks may still be rows in the making."""
        return self._view_of(line.state.id, line.head, {number: spans for _, number, spans in line.chunks})

    def _view_of(self, log_id: int, head: Head, making: Mapping[int, str] | None = None) -> SpanSequence:
        self.flush()
        numbers = [chunk for chunk, _ in head.chunks]
        making = making or {}
        stored = [n for n in numbers if n not in making]
        spans = dict(making) | dict(self._execute(sql.CHUNKS, (log_id, encode(stored))) if stored else ())
        return SpanSequence([Part(decode_spans(spans[n]), n) for n in numbers], head.tail)

    def _accept(self, line: Line) -> None:
        """Take over what a line came to."""
        ledger, state = self._ledger, line.state
        if state.id == 0:
            self._found(line)
            state = line.state
        if line.entries and ledger.last_n is None:
            ledger.last_n = max(n or 0 for n in self._execute(sql.LAST_N)[0])
        n = ledger.last_n or 0
        for row in line.entries:
            n += 1
            self._entries.append((n, *row))
            self._pending[state.id, row[2]] = (row[1], row[3], None, *row[4:14])
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
        rows = self._execute(sql.INSERT_LOG, (state.uid, line.log, now, 0, 0, state.uid))
        state.id = rows[0][0]
        first = line.revisions[0]
        line.entries = [(state.id, *row[1:]) for row in line.entries]
        line.chunks = [(state.id, *row[1:]) for row in line.chunks]
        line.revisions = [(state.id, *row[1:]) for row in line.revisions]
        self._connection.executemany(sql.INSERT_REVISION, [line.revisions.pop(0)])
        self._execute(sql.INSERT_BRANCH, (state.id, "main", first[1], None, now))

    # Append

    def _append(self, request: Append) -> Appended:
        line = self._line(request.log, request.branch, scratch=False)
        _check_expected(line, request.expected_seq, request.expected_head)
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
        if not new:
            return Appended(seqs, [], None)
        if line.state.id == 0:
            _root(line, new_id(), now_us())
        first = line.state.entry_count + 1
        line.bring_in(new)
        run = (first, line.state.entry_count)
        revision = new_id()
        self._extend(line, revision, None, new[0].at, request.meta, [run])
        self._accept(line)
        return Appended(seqs, line.new, revision)

    def _extend(
        self,
        line: Line,
        revision: str,
        operation: str | None,
        at: int,
        meta: FrozenDict,
        runs: list[Run],
        replaces: str | None = None,
    ) -> None:
        """A revision that shows `runs` after what its parent shows."""
        tail = extended(line.head.tail, runs)
        size = line.head.size + sum(last - first + 1 for first, last in runs)
        view = None
        if len(tail) > TAIL_SPANS:
            self._next_chunk(line)
            view = SpanSequence([Part([], number) for number, _ in line.head.chunks], tail)
            ends = [*(start for _, start in line.head.chunks[1:]), size - _count(tail)]
            for part, (_, start), end in zip(view.chunks, line.head.chunks, ends, strict=False):
                part.size = end - start  # unchanged chunks are named, not read
        line.add_revision(revision, operation, at, meta, view, tail, size, replaces)

    def _already(self, line: Line, item: Draft, new: list[Draft], position: dict[str, int]) -> int | None:
        """The seq of an entry that counts as appended already; `DuplicateEntryError` where its id is taken."""
        entry_id = item.entry.id
        if entry_id in position:
            if new[position[entry_id]].content != item.content:
                raise DuplicateEntryError(entry_id, "twice in one batch with different content")
            return line.state.entry_count + 1 + position[entry_id]
        found = self._stored(line.state.id, entry_id)
        if found is None:
            return None
        seq, revision, redacted_at, *content = found
        if redacted_at is not None or tuple(content) != item.content:
            raise DuplicateEntryError(entry_id, "it is stored with other content")
        if (line.state.id, entry_id) in self._pending and any(
            row[0] == line.state.id and row[1] == revision and row[4] == line.branch for row in self._revisions
        ):
            return int(seq)
        self.flush()
        if self._execute(sql.BRANCH_OF, (line.state.id, revision))[0][0] == line.branch:
            return int(seq)
        if seq in self._view(line):
            return int(seq)
        raise DuplicateEntryError(entry_id, "it was appended through another branch")

    def _stored(self, log_id: int, entry_id: str) -> tuple[Any, ...] | None:
        pending = self._pending.get((log_id, entry_id))
        if pending is not None:
            return pending
        rows = self._execute(sql.ENTRY_CONTENT, (log_id, entry_id)) if log_id else []
        return rows[0] if rows else None

    # Commit

    def _commit(self, request: Commit) -> Committed:
        history = request.history
        line = self._line(request.log, request.branch)
        if line.state.id == 0:
            return self._commit_to_new(line, request)
        newer, base, replaced = self._newer(line, history)
        on_line = self._on_lineage(line, base)
        if not newer and (on_line or base == line.head.number):
            state = self._execute(sql.REVISION_STATE, (line.state.id, base))[0]
            return Committed(state[1], replaced, [])
        rebase = replaced
        if base != line.head.number:
            if not request.rebase or not newer:
                expected = self._execute(sql.REVISION_STATE, (line.state.id, base))[0][1]
                raise ConflictError(expected, line.head.id)
            rebase = True
        for revision in newer:
            self._write_revision(line, request, revision, rebase=rebase)
        if line.revisions:
            self._accept(line)
        return Committed(line.head.id, rebase, line.new)

    def _commit_to_new(self, line: Line, request: Commit) -> Committed:
        history = request.history
        try:
            revisions = list(history.lineage())[::-1]
        except NotLoadedError:
            reason = "the log is gone, or none of the history's revisions is in it"
            raise ConflictError(history.revision_id, None, reason=reason) from None
        root = revisions[0]
        line.bring_in(_drafts(request, root))
        shown = [line.seqs[i] for i in root.entry_ids or ()]
        _root(line, root.id, root.created_at * 1000, root, runs_of(shown))
        for revision in revisions[1:]:
            self._write_revision(line, request, revision, rebase=False)
        self._accept(line)
        return Committed(line.head.id, False, line.new)

    def _newer(self, line: Line, history: MessageHistory) -> tuple[list[Revision], int, bool]:
        """The revisions that the log lacks, oldest first; the number of the one they follow; whether by `replaces`."""
        newer: list[Revision] = []
        lineage = iter(history.lineage())
        ended = False
        while not ended:
            page: list[Revision] = []
            try:
                for revision in lineage:
                    page.append(revision)
                    if len(page) == LINEAGE_PAGE:
                        break
                else:
                    ended = True
            except NotLoadedError:
                ended = True
            listed = encode([revision.id for revision in page])
            known = {r[1]: r[0] for r in self._execute(sql.REVISIONS_KNOWN, (line.state.id, listed))}
            replacing = {r[2]: r[0] for r in self._execute(sql.REVISIONS_REPLACING, (line.state.id, listed))}
            for revision in page:
                if revision.id in known:
                    return newer[::-1], known[revision.id], False
                if revision.id in replacing:
                    return newer[::-1], replacing[revision.id], True
                newer.append(revision)
        root = newer[-1]
        if root.parent is None and root.size == 0:
            # An empty beginning is every log's: such a history follows this log's root.
            return newer[-2::-1] if len(newer) > 1 else [], 0, False
        raise ConflictError(newer[-1].id, line.head.id, reason="none of the history's revisions is in this log")

    def _on_lineage(self, line: Line, number: int) -> bool:
        """Whether a revision is an ancestor of the line's head, or the head."""
        branch = self._execute(sql.BRANCH_OF, (line.state.id, number))[0][0]
        return any(
            branch == name and number <= last for name, last in segments(self._connection, line.state.id, line.branch)
        )

    def _write_revision(self, line: Line, request: Commit, revision: Revision, *, rebase: bool) -> None:
        history, operation = request.history, revision.operation
        at = revision.created_at * 1000
        new: list[Draft] = []
        for item in _drafts(request, revision):
            entry = item.entry
            found = None if entry.id in line.seqs else self._stored(line.state.id, entry.id)
            if found is None:
                if entry.id not in line.seqs:
                    new.append(item)
            elif found[2] is not None or tuple(found[3:]) != item.content:
                raise DuplicateEntryError(entry.id, "it is stored with other content")
            else:
                line.seqs[entry.id] = found[0]
        if rebase and (operation is None or operation.type == "view" or revision.entry_ids is not None):
            raise ConflictError(revision.parent, line.head.id, reason="a view cannot be rebased")
        line.bring_in(new)
        made = new_id() if rebase else revision.id
        replaces = revision.id if rebase else revision.replaces
        if operation is not None and operation.type == "append":
            ids = list(operation.entry_ids or ())
            if rebase and len(ids) > len(new):
                view = self._view(line)
                ids = [i for i in ids if self._seq(line, i) not in view]
                if not ids:
                    return
            plain = ids == [item.entry.id for item in new]
            stored = operation_column(revision, of_new_entries=plain)
            if rebase and not plain:
                stored = encode({"type": "append", "entryIds": ids})
            runs = runs_of([self._seq(line, i) for i in ids])
            self._extend(line, made, stored, at, revision.meta, runs, replaces)
        else:
            view = self._changed_view(line, history, revision, strict=rebase)
            self._next_chunk(line)
            stored = operation_column(revision, of_new_entries=False)
            line.add_revision(made, stored, at, revision.meta, view, view.tail.runs, len(view), replaces)
        if not rebase and line.head.size != revision.size:
            raise InvalidHistoryError(f"revision {revision.id!r} shows {line.head.size} entries, not {revision.size}")

    def _changed_view(self, line: Line, history: MessageHistory, revision: Revision, *, strict: bool) -> SpanSequence:
        operation = revision.operation
        if revision.entry_ids is not None or operation is None or operation.entry_ids is not None:
            ids = revision.entry_ids or (operation.entry_ids if operation else ()) or ()
            return SpanSequence.of(self._seqs(line, ids))
        if operation.revision is not None:
            rows = self._execute(sql.REVISION_STATE_BY_ID, (line.state.id, operation.revision))
            if not rows:
                return SpanSequence.of(self._seqs(line, [entry.id for entry in history.refs(revision.id)]))
            return self._view_of(line.state.id, _head(rows[0]))
        view = self._view(line)
        self._seqs(line, [i for patch in operation.patches for i in _named(patch)])
        for patch in operation.patches:
            kept, absent = narrowed(patch, lambda i: line.seqs.get(i, 0) in view)
            if absent or kept is None:
                if strict:
                    raise ConflictError(revision.parent, line.head.id, absent)
                raise InvalidHistoryError(f"revision {revision.id!r} edits {absent[0]!r}, which its parent lacks")
            apply_patch(view, kept, line.seqs.__getitem__)
            twice = [i for i in inserted_by(kept) if view.times(line.seqs[i]) > 1]
            if twice and strict:
                reason = f"entry {twice[0]!r}, which was to be put in, is active already"
                raise ConflictError(revision.parent, line.head.id, reason=reason)
            if twice:
                raise InvalidHistoryError(f"revision {revision.id!r} shows entry {twice[0]!r} twice")
        return view

    def _seqs(self, line: Line, ids: Sequence[str]) -> list[int]:
        """The seqs of entries of the log; all are known to the line afterwards."""
        unknown = [i for i in ids if i not in line.seqs]
        if unknown and line.state.id:
            line.seqs.update(self._execute(sql.SEQS_OF_IDS, (line.state.id, encode(unknown))))
        for entry_id in unknown:
            if entry_id not in line.seqs:
                raise UnknownEntryError(entry_id, f"log {line.log!r}")
        return [line.seqs[i] for i in ids]

    def _seq(self, line: Line, entry_id: str) -> int:
        return self._seqs(line, (entry_id,))[0]

    # Branches

    def _fork(self, request: Fork) -> str:
        state = self._known_log(request.log)
        if request.at is None:
            number, revision = (head := self._head(request.log, state, request.branch)).number, head.id
        else:
            rows = self._execute(sql.REVISION_STATE_BY_ID, (state.id, request.at))
            if not rows:
                raise UnknownRevisionError(request.at, f"log {request.log!r}")
            number, revision = rows[0][0], rows[0][1]
        if self._execute(sql.FORKED_FROM, (state.id, request.name)):
            raise BranchExistsError(request.log, request.name)
        self._execute(sql.INSERT_BRANCH, (state.id, request.name, number, number, now_us()))
        self.wrote = True
        return str(revision)

    def _rewind(self, request: Rewind) -> str:
        self._known_log(request.log)
        line = self._line(request.log, request.branch)
        _check_expected(line, None, request.expected_head)
        rows = self._execute(sql.REVISION_STATE_BY_ID, (line.state.id, request.revision))
        if not rows:
            raise UnknownRevisionError(request.revision, f"log {request.log!r}")
        target = _head(rows[0])
        if target.number == line.head.number:
            return line.head.id
        self._next_chunk(line)
        operation = encode({"type": "view", "revision": target.id})
        line.head = replace(line.head, anchor=target.anchor, chunks=target.chunks)
        line.add_revision(new_id(), operation, now_us(), request.meta, None, target.tail, target.size)
        self._accept(line)
        return line.head.id

    # Erasure

    def _redact(self, request: Redact) -> RedactReceipt:
        state = self._known_log(request.log)
        column = "seq" if isinstance(request.entry, int) else "id"
        rows = self._execute(
            f"SELECT n, seq, id, tool_calls, redacted_at FROM entries WHERE log_id = ? AND {column} = ?",
            (state.id, request.entry),
        )
        if not rows:
            raise UnknownEntryError(request.entry, f"log {request.log!r}")
        n, seq, entry_id, calls, redacted_at = rows[0]
        summaries = self._summaries_over(state.id, entry_id)
        if redacted_at is None:
            redacted_at = now_us()
            self._execute(
                "UPDATE entries SET name = NULL, text = NULL, parts = NULL, tool_calls = ?, sources = NULL,"
                " meta = NULL, extra = NULL, salt = NULL, redacted_at = ?, redacted_reason = ? WHERE n = ?",
                (redacted_calls(calls), redacted_at, to_column(request.reason), n),
            )
            self._execute(sql.SET_MARK, (ERASURE, 1))
            self.wrote = True
        self.erased = True
        return RedactReceipt(entry_id, seq, moment(redacted_at), summaries, complete=False)

    def _summaries_over(self, log_id: int, entry_id: str) -> tuple[str, ...]:
        """The summaries that stand for an entry, directly or through other summaries."""
        rows = self._execute(
            "SELECT e.id, s.value FROM entries AS e, json_each(e.sources) AS s"
            " WHERE e.log_id = ? AND e.sources IS NOT NULL ORDER BY e.seq",
            (log_id,),
        )
        over: dict[str, list[str]] = {}
        for summary, source in rows:
            over.setdefault(source, []).append(summary)
        found: dict[str, None] = {}
        waiting = [entry_id]
        while waiting:
            for summary in over.get(waiting.pop(), ()):
                if summary not in found:
                    found[summary] = None
                    waiting.append(summary)
        return tuple(found)

    def _purge(self, request: Purge) -> PurgeReceipt:
        state = self._known_log(request.log)
        at = now_us()
        last_n = max(n or 0 for n in self._execute(sql.LAST_N)[0])
        self._execute(
            "UPDATE logs SET name = NULL, meta = NULL, purged_at = ?, purged_n = ? WHERE id = ?", (at, last_n, state.id)
        )
        for table in ("branches", "entries", "revisions", "chunks"):
            self._execute(f"DELETE FROM {table} WHERE log_id = ?", (state.id,))
        self._execute(sql.SET_MARK, (ERASURE, 1))
        self._ledger.logs.pop(request.log, None)
        self.wrote = self.erased = True
        return PurgeReceipt(request.log, state.entry_count, state.revision_count, moment(at), complete=False)


def segments(connection: Connection, log_id: int, branch: str) -> list[tuple[str, int]]:
    """The lineage of a branch, as the branches that its revisions were made through, each to its last one."""
    last = 2**62
    found: list[tuple[str, int]] = []
    while True:
        found.append((branch, last))
        rows = connection.execute(sql.FORKED_FROM, (log_id, branch))
        if not rows or rows[0][0] is None:
            return found
        last = rows[0][0]
        branch = connection.execute(sql.BRANCH_OF, (log_id, last))[0][0]


def _head(row: tuple[Any, ...]) -> Head:
    number, revision_id, hashed, anchor, tail, size, appended, _branch, _parent, chunks = row
    return Head(number, revision_id, hashed, anchor, decode_spans(tail), size, appended, json.loads(chunks))


def _count(runs: Iterable[Run]) -> int:
    return sum(last - first + 1 for first, last in runs)


def _check_expected(line: Line, expected_seq: int | None, expected_head: str | None) -> None:
    if expected_seq is not None and expected_seq != line.state.entry_count:
        raise ConflictError(expected_seq, line.state.entry_count)
    if expected_head is not None and expected_head != line.head.id:
        raise ConflictError(expected_head, line.head.id or None)


def _root(line: Line, revision_id: str, at: int, root: Revision | None = None, runs: Sequence[Run] = ()) -> None:
    """Revision 0, of a log that does not exist yet."""
    meta = FrozenDict() if root is None else root.meta
    view = SpanSequence([], runs)
    view.settled()
    line.state.next_chunk = 1
    chunks = line.stored_chunks(view.chunks)
    size = _count(runs)
    tail = view.tail.runs
    columns = (
        line.state.id,
        0,
        revision_id,
        None,
        line.branch,
        None,
        None if root is None else operation_column(root, of_new_entries=False),
        0,
        encode(chunks),
        encode_spans(tail, size - _count(tail)),
        size,
        len(line.new),
        to_column(encode(meta)) if meta else None,
        at,
    )
    hashed = revision_hash(line.state.uid, columns[1:])
    line.revisions.append((*columns, hashed))
    line.head = Head(0, revision_id, hashed, 0, tail, size, len(line.new), chunks)
    line.counted = len(line.new)
    line.state.revision_count = 1


def _drafts(request: Commit, revision: Revision) -> list[Draft]:
    """The entries that a revision introduces, in the form in which they are to be stored."""
    drafts = [
        draft(request.changed.get(entry.id, entry), revision.created_at * 1000, fresh=False)
        for entry in request.history.introduced(revision.id)
    ]
    for item in drafts:
        checked_name(item.entry.id, "the id of an entry")
        if item.size > request.max_message_bytes:
            raise TooLargeError(item.size, request.max_message_bytes)
    return drafts


def _named(patch: FrozenDict) -> list[str]:
    """Every id that a recorded patch needs the seq of."""
    ids = [patch[f] for f in ("id", "before", "after", "entryId") if patch.get(f) is not None]
    for listed in ("ids", "entryIds"):
        ids += patch.get(listed, ())
    return [*ids, *patch["sourceIds"]] if patch.get("replace") else ids
