"""Sequences of seqs as spans, in chunks: how a revision's view is stored.

A span is a run of consecutive seqs. A revision names an *anchor* (itself, perhaps), which lists chunks of at
most `CHUNK_SPANS` spans, and has a *tail* of at most `TAIL_SPANS` spans that follow them. Chunks are never
changed, and revisions share them: an append touches the tail, an edit makes a new anchor and new chunks only
where it touched them.

As JSON, a span is `[position, first]` or `[position, first, last]`; positions in a chunk count from its start,
those in a tail from the start of the view. An anchor lists `[chunk, position of its first entry]`.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

Run: TypeAlias = "tuple[int, int]"
"""First and last seq of a run."""

CHUNK_SPANS = 64
TAIL_SPANS = 31


def count(runs: Iterable[Run]) -> int:
    """How many seqs the runs hold."""
    seqs = 0
    for first, last in runs:  # a generator would cost more than what it counts
        seqs += last - first + 1
    return seqs


def encode_spans(runs: Iterable[Run], position: int = 0) -> str:
    """Runs as spans, the first of them at `position`."""
    spans = []
    for first, last in runs:
        spans.append(f"[{position},{first}]" if first == last else f"[{position},{first},{last}]")
        position += last - first + 1
    return f"[{','.join(spans)}]"


def decode_spans(text: str) -> list[Run]:
    """The runs of spans."""
    return [(span[1], span[-1]) for span in json.loads(text)]


def runs_of(seqs: Iterable[int]) -> list[Run]:
    """Seqs in order, as runs."""
    runs: list[Run] = []
    for seq in seqs:
        if runs and runs[-1][1] == seq - 1:
            runs[-1] = (runs[-1][0], seq)
        else:
            runs.append((seq, seq))
    return runs


def extended(runs: Sequence[Run], more: Iterable[Run]) -> list[Run]:
    """`runs` and then `more`; runs that meet become one."""
    joined = list(runs)
    for first, last in more:
        if joined and joined[-1][1] == first - 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


@dataclass(slots=True)
class Part:
    """A chunk, or the tail. `number` is the stored chunk that it still equals."""

    runs: list[Run]
    number: int | None = None
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = count(self.runs)

    def changed(self, runs: list[Run]) -> None:
        """Hold other runs: the part no longer equals its stored chunk."""
        self.runs = runs
        self.number = None
        self.size = count(runs)


class SpanSequence:
    """A view's seqs as an `Editable`: what operations change, part by part."""

    def __init__(self, chunks: Iterable[Part], tail: Iterable[Run]) -> None:
        self.chunks = list(chunks)
        self.tail = Part(list(tail))

    @classmethod
    def of(cls, seqs: Iterable[int]) -> SpanSequence:
        """The sequence of `seqs`."""
        return cls([], runs_of(seqs))

    def _parts(self) -> Iterator[Part]:
        yield from self.chunks
        yield self.tail

    def runs(self) -> Iterator[Run]:
        """All runs in order."""
        for part in self._parts():
            yield from part.runs

    def __len__(self) -> int:
        return sum(part.size for part in self._parts())

    def index(self, key: int) -> int | None:
        """The position of a seq, or None."""
        position = 0
        for first, last in self.runs():
            if first <= key <= last:
                return position + key - first
            position += last - first + 1
        return None

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int) and self.index(key) is not None

    def times(self, key: int) -> int:
        """How many places a seq has: two only where an operation put in what was there already."""
        return sum(first <= key <= last for first, last in self.runs())

    def first(self, keys: Set[int]) -> int | None:
        """The position of the first of `keys`, or None."""
        ordered = sorted(keys)
        position = 0
        for first, last in self.runs():
            at = bisect_left(ordered, first)
            if at < len(ordered) and ordered[at] <= last:
                return position + ordered[at] - first
            position += last - first + 1
        return None

    def remove(self, keys: Set[int]) -> list[int]:
        """Take out those of `keys` that are there; they are returned in their order."""
        ordered = sorted(keys)
        gone: list[int] = []
        for part in self._parts():
            kept: list[Run] = []
            before = len(gone)
            for first, last in part.runs:
                start = first
                for key in ordered[bisect_left(ordered, first) : bisect_right(ordered, last)]:
                    gone.append(key)
                    if start < key:
                        kept.append((start, key - 1))
                    start = key + 1
                if start <= last:
                    kept.append((start, last))
            if len(gone) > before:
                part.changed(kept)
        return gone

    def insert(self, position: int, keys: Sequence[int]) -> None:
        """Put `keys` in, the first of them at `position`."""
        if not keys:
            return
        for part in self._parts():
            if position < part.size or part is self.tail:
                break
            position -= part.size
        head: list[Run] = []
        rest = list(part.runs)
        while rest and position > 0:
            first, last = rest.pop(0)
            if last - first + 1 > position:
                rest.insert(0, (first + position, last))
                last = first + position - 1
            head.append((first, last))
            position -= last - first + 1
        part.changed(extended(extended(head, runs_of(keys)), rest))

    def settled(self) -> bool:
        """Cut what changed into chunks and a tail within their bounds; whether any chunk is new."""
        self.chunks = list(self._rechunked())
        if len(self.tail.runs) > TAIL_SPANS:
            last = self.chunks.pop() if self.chunks and self._has_room(self.chunks[-1]) else Part([])
            self.chunks += _cut(extended(last.runs, self.tail.runs))
            self.tail = Part([])
        return any(part.number is None for part in self.chunks)

    def _has_room(self, chunk: Part) -> bool:
        """Whether a chunk, if its runs are known, can take in the tail: an anchor lists half as many then."""
        return bool(chunk.runs) and len(chunk.runs) + len(self.tail.runs) <= CHUNK_SPANS

    def _rechunked(self) -> Iterator[Part]:
        """The chunks, with neighbours that changed, or are small beside one that changed, put together."""
        pending: list[Run] | None = None
        for part in self.chunks:
            small = pending is not None and len(pending) + len(part.runs) <= CHUNK_SPANS // 2
            if part.number is None or small:
                pending = extended(pending or [], part.runs)
            else:
                if pending:
                    yield from _cut(pending)
                pending = None
                yield part
        if pending:
            yield from _cut(pending)


def _cut(runs: Sequence[Run]) -> list[Part]:
    """Runs as chunks of even size."""
    parts = -(-len(runs) // CHUNK_SPANS)
    step = -(-len(runs) // parts) if parts else 1
    return [Part(list(runs[i : i + step])) for i in range(0, len(runs), step)]
