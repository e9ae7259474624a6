"""One branch as a request extends it: rows in the making, and the state that they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msglog.codec import FrozenDict, encode, to_column
from msglog.errors import ConflictError
from msglog.history import Revision
from msglog.storage.hashes import chain_hash, content_hash, new_bytes, revision_hash
from msglog.storage.ledger import Head, LogState
from msglog.storage.rows import Draft, operation_column
from msglog.storage.spans import Part, Run, SpanSequence, count, encode_spans


class Line:
    """One branch as a request extends it: rows in the making, and the state that they lead to."""

    __slots__ = ("branch", "chunks", "counted", "entries", "head", "log", "new", "revisions", "seqs", "state")

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
        seq, chained = state.entry_count, state.chain_hash
        for item in drafts:
            seq += 1
            entry_id, content, at = item.entry.id, item.content, item.at
            salt = new_bytes()
            hashed = content_hash(salt, content)
            header = (seq, entry_id, content[0], content[1], at, number)
            chained = chain_hash(chained, state.uid, header, hashed)
            self.entries.append((state.id, seq, entry_id, number, *content, at, salt, hashed, chained, None, None))
            self.new.append((item, seq))
            self.seqs[entry_id] = seq
        state.entry_count, state.chain_hash = seq, chained

    @property
    def making(self) -> dict[int, str]:
        """The spans of the chunks that are rows in the making."""
        return {number: spans for _, number, spans in self.chunks}

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
        position = size - count(tail)
        new = len(self.new) - self.counted
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


def begin(line: Line, revision_id: str, at: int, root: Revision | None = None, runs: Sequence[Run] = ()) -> None:
    """Revision 0, of a log that does not exist yet."""
    meta = FrozenDict() if root is None else root.meta
    view = SpanSequence([], runs)
    view.settled()
    line.state.next_chunk = 1
    chunks = line.stored_chunks(view.chunks)
    size = count(runs)
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
        encode_spans(tail, size - count(tail)),
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


def check_expected(line: Line, expected_seq: int | None, expected_head: str | None) -> None:
    """`ConflictError` unless the log ends, and the branch is, where the caller says."""
    if expected_seq is not None and expected_seq != line.state.entry_count:
        raise ConflictError(expected_seq, line.state.entry_count)
    if expected_head is not None and expected_head != line.head.id:
        raise ConflictError(expected_head, line.head.id or None)
