"""The graph behind histories: revisions and entries, in an append-only record that histories share."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msglog.codec import EMPTY, FrozenDict
from msglog.history.operations import Operation
from msglog.history.sequence import IdSequence
from msglog.message import Entry

_DEPTH = 32
"""Graphs that branched off one another, at most, before the next one copies what it sees."""


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


class Graph:
    """An append-only record. A history sees a prefix of it (an `Extent`); the newest extends it in place."""

    __slots__ = ("base", "depth", "entries", "entry_at", "lock", "marks", "revision_at", "revisions", "sequences")

    def __init__(self, base: Extent | None = None) -> None:
        self.base = base
        self.depth: int = 0 if base is None else base.graph.depth + 1
        # One lock for all graphs that branched off one another: their sequences share tails.
        self.lock: threading.Lock = threading.Lock() if base is None else base.graph.lock
        self.entries: list[Entry] = []
        self.entry_at: dict[str, int] = {}
        self.revisions: list[Revision] = []
        self.revision_at: dict[str, int] = {}
        self.sequences: list[IdSequence] = []
        self.marks: list[int] = []  # how many entries there were after each revision


@dataclass(frozen=True, slots=True)
class Extent:
    """What one history sees of a graph: so many of its own entries and revisions, and all of its base's."""

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
        return None if found is None else found[0].sequences[found[1]]

    def introduced(self, revision_id: str) -> list[Entry]:
        """The entries that came in with a revision, in order."""
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
        extents = [self]
        while (base := extents[-1].graph.base) is not None:
            extents.append(base)
        return extents[::-1]

    def appended(
        self, entries: Sequence[Entry], revision: Revision, before: IdSequence, ids: Sequence[str]
    ) -> tuple[Extent, IdSequence]:
        """The extent with an appending revision, and its sequence: `before` and then `ids`."""
        with self.graph.lock:
            sequence = before.appended(ids)
            return self._with(entries, revision, sequence), sequence

    def added(self, entries: Sequence[Entry], revision: Revision, sequence: IdSequence) -> Extent:
        """The extent with one more revision and the entries that it brings in."""
        with self.graph.lock:
            return self._with(entries, revision, sequence)

    def _with(self, entries: Sequence[Entry], revision: Revision, sequence: IdSequence) -> Extent:
        graph = self.graph
        if len(graph.revisions) != self.revisions or len(graph.entries) != self.entries:
            # Another history went on from here first: this one branches off.
            graph = self._flattened() if graph.depth >= _DEPTH else Graph(self)
        for entry in entries:
            graph.entry_at[entry.id] = len(graph.entries)
            graph.entries.append(entry)
        graph.revision_at[revision.id] = len(graph.revisions)
        graph.revisions.append(revision)
        graph.sequences.append(sequence)
        graph.marks.append(len(graph.entries))
        return Extent(graph, len(graph.entries), len(graph.revisions))

    def _flattened(self) -> Graph:
        whole = Graph()
        whole.lock = self.graph.lock
        for extent in self._from_the_ground():
            graph, shift = extent.graph, len(whole.entries)
            whole.entries += graph.entries[: extent.entries]
            whole.revisions += graph.revisions[: extent.revisions]
            whole.sequences += graph.sequences[: extent.revisions]
            whole.marks += [shift + mark for mark in graph.marks[: extent.revisions]]
        whole.entry_at = {entry.id: at for at, entry in enumerate(whole.entries)}
        whole.revision_at = {revision.id: at for at, revision in enumerate(whole.revisions)}
        return whole

