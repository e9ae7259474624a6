"""The graph behind histories: revisions and entries, in an append-only record that histories share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msglog.codec import EMPTY, FrozenDict
from msglog.history.operations import Operation
from msglog.history.sequence import IdSequence
from msglog.ids import new_id
from msglog.message import Entry, IdMaker

_DEPTH = 32
"""Graphs that branched off one another, at most, before the next one takes in small ones among them."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One immutable ordered sequence of active entries: its parent, and the operation that made it.

    `size` counts the active entries; `created_at` is in milliseconds since 1970; `replaces` is the
    revision that this one stands for after a rebase; `meta` is the caller's (reason, actor, model, …).
    `entry_ids` is the sequence, stated only where the operation cannot give it.
    """

    id: str
    parent: str | None
    operation: Operation | None = field(hash=False)
    size: int
    created_at: int
    replaces: str | None = None
    meta: FrozenDict = field(default_factory=lambda: EMPTY, hash=False)
    entry_ids: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The revision as a JSON object with camelCase keys; what is not set is left out."""
        data: dict[str, Any] = {"id": self.id, "createdAt": self.created_at, "size": self.size}
        if self.parent is not None:
            data["parent"] = self.parent
        if self.operation is not None:
            data["operation"] = self.operation.to_json()
        if self.entry_ids is not None:
            data["entryIds"] = list(self.entry_ids)
        if self.replaces is not None:
            data["replaces"] = self.replaces
        if self.meta:
            data["meta"] = self.meta
        return data


Clock: TypeAlias = Callable[[], int]


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Common:
    """What graphs that branched off one another have in common.

    `ids` and `clock` make the ids and times of new revisions. `partial` says that the log holds more of the
    graph. There is one lock, since sequences of different branches share tails.
    """

    ids: IdMaker = new_id
    clock: Clock = now_ms
    partial: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class Graph:
    """An append-only record. A history sees a prefix of it (an `Extent`); the newest extends it in place."""

    __slots__ = ("base", "common", "entries", "entry_at", "marks", "revision_at", "revisions", "sequences")

    def __init__(self, common: Common, base: Extent | None = None) -> None:
        self.common = common
        self.base = base
        self.entries: list[Entry] = []
        self.entry_at: dict[str, int] = {}
        self.revisions: list[Revision] = []
        self.revision_at: dict[str, int] = {}
        self.sequences: list[IdSequence] = []  # of each revision, or the one before it that it extends
        self.marks: list[int] = []  # how many entries there were after each revision


@dataclass(slots=True)
class Extent:
    """What one history sees of a graph: so many of its own entries and revisions, and all of its base's.

    Never changed once made; not frozen only because every append makes one, and that would double its time.
    """

    graph: Graph
    entries: int = 0
    revisions: int = 0

    def find_entry(self, entry_id: str) -> Entry | None:
        """The entry of this id."""
        extent: Extent | None = self
        while extent is not None:
            at = extent.graph.entry_at.get(entry_id)
            if at is not None and at < extent.entries:
                return extent.graph.entries[at]
            extent = extent.graph.base
        return None

    def find_revision(self, revision_id: str) -> Revision | None:
        """The revision of this id."""
        found = self._locate(revision_id)
        return None if found is None else found[0].revisions[found[1]]

    def sequence(self, revision_id: str) -> IdSequence | None:
        """The sequence of a revision."""
        found = self._locate(revision_id)
        if found is None:
            return None
        graph, at = found
        return graph.sequences[at].extended_to(graph.revisions[at].size)

    def introduced(self, revision_id: str) -> list[Entry]:
        """The entries that the graph first saw with a revision, in order."""
        found = self._locate(revision_id)
        if found is None:
            return []
        graph, at = found
        return graph.entries[graph.marks[at - 1] if at else 0 : graph.marks[at]]

    def _locate(self, revision_id: str) -> tuple[Graph, int] | None:
        extent: Extent | None = self
        while extent is not None:
            at = extent.graph.revision_at.get(revision_id)
            if at is not None and at < extent.revisions:
                return extent.graph, at
            extent = extent.graph.base
        return None

    def all_revisions(self) -> Iterator[Revision]:
        """Every revision, in the order in which they were added."""
        for extent in self._from_the_ground():
            yield from extent.graph.revisions[: extent.revisions]

    def all_entries(self) -> Iterator[Entry]:
        """Every entry, in the order in which they were added."""
        for extent in self._from_the_ground():
            yield from extent.graph.entries[: extent.entries]

    def _from_the_ground(self) -> list[Extent]:
        return list(self._to_the_ground())[::-1]

    def _to_the_ground(self) -> Iterator[Extent]:
        extent: Extent | None = self
        while extent is not None:
            yield extent
            extent = extent.graph.base

    def appended(
        self, entries: Iterable[Entry], revision: Revision, before: IdSequence, ids: Sequence[str]
    ) -> tuple[Extent, IdSequence]:
        """The extent with an appending revision, and its sequence: `before` and then `ids`."""
        with self.graph.common.lock:
            sequence = before.appended(ids)
            return self._with(entries, revision, sequence), sequence

    def added(self, entries: Iterable[Entry], revision: Revision, sequence: IdSequence) -> Extent:
        """The extent with one more revision and the entries that it brings in."""
        with self.graph.common.lock:
            return self._with(entries, revision, sequence)

    def _with(self, entries: Iterable[Entry], revision: Revision, sequence: IdSequence) -> Extent:
        graph, at, count = self.graph, self.revisions, self.entries
        if len(graph.revisions) != at:
            graph = self._branched()
            at, count = len(graph.revisions), len(graph.entries)
        for entry in entries:
            graph.entry_at[entry.id] = count
            graph.entries.append(entry)
            count += 1
        graph.revision_at[revision.id] = at
        graph.revisions.append(revision)
        last = graph.sequences[-1] if at else sequence
        graph.sequences.append(last if sequence.extends(last) else sequence)
        graph.marks.append(count)
        return Extent(graph, count, at + 1)

    def _branched(self) -> Graph:
        """The graph that goes on from here where another history did so first.

        Where many have branched off one another, it takes in those that are no larger than all above them: so
        they stay few, and what is copied is no more than log n times what was added.
        """
        levels = list(self._to_the_ground())
        taken = above = 0
        if len(levels) > _DEPTH:
            for number, level in enumerate(levels, 1):
                size = level.entries + level.revisions
                if size <= above:
                    taken = number
                above += size
        graph = Graph(self.graph.common, levels[taken] if taken < len(levels) else None)
        for level in levels[:taken][::-1]:
            source, shift = level.graph, len(graph.entries)
            graph.entries += source.entries[: level.entries]
            graph.revisions += source.revisions[: level.revisions]
            graph.sequences += source.sequences[: level.revisions]
            graph.marks += [shift + mark for mark in source.marks[: level.revisions]]
        graph.entry_at = {entry.id: at for at, entry in enumerate(graph.entries)}
        graph.revision_at = {revision.id: at for at, revision in enumerate(graph.revisions)}
        return graph
