"""`MessageHistory`: an immutable value over a shared graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msglog.budget import estimate_tokens
from msglog.codec import EMPTY, FrozenDict, FrozenList, freeze_object
from msglog.errors import (
    InvalidHistoryError,
    NotLoadedError,
    PatchError,
    UnknownEntryError,
    UnknownRevisionError,
)
from msglog.history.graph import Clock, Common, Extent, Graph, Revision, now_ms
from msglog.history.growth import check_same, grown, pool_of
from msglog.history.lineage import brought_in, completed
from msglog.history.operations import FORK, Operation, apply_patch, narrowed
from msglog.history.pairs import broken_pairs, exchanges, widened
from msglog.history.patches import InsertAfter, Move, Patch, PatchInput, Remove, Summary, as_patches
from msglog.history.sequence import EditableList, IdSequence
from msglog.history.snapshot import HistoryDelta, Snapshot, as_delta, as_snapshot
from msglog.ids import new_id
from msglog.message import Entry, EntryInput, IdMaker, Message, as_entry, make_entry

View: TypeAlias = "str | Iterable[str]"
"""A revision id, or entry ids in order."""


class MessageHistory:
    """An immutable, revisioned sequence of messages. Every operation returns a new value.

    Older values keep working and share their structure with newer ones. A history that was loaded from a
    log may lack what lies behind its head; asked for that, it raises `NotLoadedError`.

    `ids` and `clock` (milliseconds since 1970) replace the sources of ids and times.
    """

    __slots__ = ("_extent", "_head", "_sequence")

    def __init__(self, *, ids: IdMaker = new_id, clock: Clock = now_ms) -> None:
        self._head = Revision(ids(), None, None, 0, clock())
        self._sequence = IdSequence.of([])
        self._extent = Extent(Graph(Common(ids, clock))).added((), self._head, self._sequence)

    @classmethod
    def _at(cls, extent: Extent, head: Revision, sequence: IdSequence) -> MessageHistory:
        made: MessageHistory = cls.__new__(cls)
        made._extent = extent
        made._head = head
        made._sequence = sequence
        return made

    @classmethod
    def loaded(
        cls, head: Revision, ids: Sequence[str], entries: Iterable[Entry], *, missing: int = 0
    ) -> MessageHistory:
        """A history of which only the head is at hand: its view `ids`, of which the first `missing` are left out."""
        sequence = IdSequence.of(ids, missing)
        if head.size != sequence.size:
            raise InvalidHistoryError(f"revision {head.id!r} shows {head.size} entries, not {sequence.size}")
        graph = Graph(Common(partial=head.parent is not None or missing > 0))
        return cls._at(Extent(graph).added(entries, head, sequence), head, sequence)

    # What it is

    @property
    def revision_id(self) -> str:
        """The id of the head revision."""
        return self._head.id

    @property
    def head(self) -> Revision:
        """The head revision."""
        return self._head

    @property
    def size(self) -> int:
        """How many entries are active."""
        return self._sequence.size

    @property
    def is_partial(self) -> bool:
        """Whether the graph behind the head was not loaded, or not all of it."""
        return self._extent.graph.common.partial

    def __len__(self) -> int:
        return self._sequence.size

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.refs())

    def __contains__(self, entry_id: object) -> bool:
        if entry_id in self._sequence:
            return True
        if self._sequence.missing:
            raise _not_in_window(self._sequence)
        return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MessageHistory):
            return NotImplemented
        if self._head != other._head or self.is_partial != other.is_partial:
            return False
        if self._extent == other._extent:
            return True
        return _by_id(self._extent.all_revisions()) == _by_id(other._extent.all_revisions()) and _by_id(
            self._extent.all_entries()
        ) == _by_id(other._extent.all_entries())

    def __hash__(self) -> int:
        return hash(self._head.id)

    def __repr__(self) -> str:
        return f"<MessageHistory {self._head.id} of {self.size} entries{', partial' if self.is_partial else ''}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (MessageHistory.from_snapshot, (self.to_snapshot(),))

    def __copy__(self) -> MessageHistory:
        return self

    def __deepcopy__(self, memo: object) -> MessageHistory:
        return self

    # Reading

    def refs(self, view: View | None = None, *, last: int | None = None) -> list[Entry]:
        """The entries of the view, of a revision, or of the given ids; with `last`, only so many at the end.

        Raises `UnknownRevisionError`, `UnknownEntryError`, or `NotLoadedError`.
        """
        if view is None:
            ids = _held(self._sequence, last)
        elif isinstance(view, str):
            ids = _held(self._sequence_of(self.revision(view)), last)
        else:
            ids = _held(IdSequence.of(list(view)), last)
        return [self.entry(i) for i in ids]

    def render(self, view: View | None = None, *, last: int | None = None) -> list[Message]:
        """The messages of the view, of a revision, or of the given ids: what a model is shown."""
        return [entry.message for entry in self.refs(view, last=last)]

    def entry(self, entry_id: str) -> Entry:
        """The entry of this id, active or not."""
        entry = self._extent.find_entry(entry_id)
        if entry is None:
            raise NotLoadedError(f"entry {entry_id!r}") if self.is_partial else UnknownEntryError(entry_id)
        return entry

    def restore(self, entry_ids: Iterable[str] | None = None) -> list[Message]:
        """The original turns: summaries expanded through their sources, recursively, each original once.

        Summaries that lead nowhere, in a cycle or to unknown entries only, are left out.
        """
        ids = _held(self._sequence, None) if entry_ids is None else list(entry_ids)
        return [entry.message for entry in originals(ids, self._find)]

    def _find(self, entry_id: str) -> Entry | None:
        entry = self._extent.find_entry(entry_id)
        if entry is None and self.is_partial:
            raise NotLoadedError(f"entry {entry_id!r}")
        return entry

    def estimate_tokens(self) -> int:
        """A local estimate of the view's tokens: a quarter of its characters."""
        return estimate_tokens(self.render())

    def stable_prefix(self, other: MessageHistory) -> int:
        """How many leading messages two views share: what a provider's prompt cache still covers."""
        mine, theirs = _held(self._sequence, None), _held(other._sequence, None)
        shared = 0
        for a, b in zip(mine, theirs, strict=False):
            one, two = self.entry(a).message, other.entry(b).message
            if one is not two and repr(one.to_json()) != repr(two.to_json()):  # to the type and key order
                break
            shared += 1
        return shared

    def revision(self, revision_id: str) -> Revision:
        """The revision of this id, anywhere in the graph."""
        revision = self._extent.find_revision(revision_id)
        if revision is not None:
            return revision
        if self.is_partial:
            raise NotLoadedError(f"revision {revision_id!r}")
        raise UnknownRevisionError(revision_id)

    def revisions(self) -> list[Revision]:
        """Every revision of the graph, parents before children."""
        self._need_all("the graph behind the head")
        return list(self._extent.all_revisions())

    def introduced(self, revision_id: str) -> list[Entry]:
        """The entries that came into a revision's lineage with it, in order."""
        return brought_in(self._extent, self.revision(revision_id))

    def lineage(self) -> Iterator[Revision]:
        """The revisions from the head to the root; `NotLoadedError` where the next one is not at hand."""
        revision = self._head
        yield revision
        while revision.parent is not None:
            revision = self.revision(revision.parent)
            yield revision

    def loaded_lineage(self) -> Iterator[Revision]:
        """The revisions from the head towards the root, as far as they were loaded."""
        revision: Revision | None = self._head
        while revision is not None:
            yield revision
            revision = None if revision.parent is None else self._extent.find_revision(revision.parent)

    # Changing

    def append(self, *inputs: EntryInput, meta: Mapping[str, Any] | None = None) -> MessageHistory:
        """The history with messages or entries at its end, as one revision.

        An entry that is active already, with equal content, is not appended again.
        """
        ids: list[str] = []
        fresh: dict[str, Entry] = {}
        new = self._extent.graph.common.ids
        for value in inputs:
            entry = as_entry(value, new=new)
            named = isinstance(value, Entry) or (not isinstance(value, Message) and "id" in value)
            known = fresh.get(entry.id) or self._extent.find_entry(entry.id) if named else None
            if known is None:
                fresh[entry.id] = entry
                ids.append(entry.id)
            else:
                check_same(known, entry)
                if entry.id not in ids and entry.id not in self:
                    ids.append(entry.id)
        if not ids:
            return self
        revision = self._next(Operation("append", tuple(ids)), self._sequence.size + len(ids), meta)
        extent, sequence = self._extent.appended(fresh.values(), revision, self._sequence, ids)
        return self._at(extent, revision, sequence)

    def edit(
        self,
        patches: PatchInput | Iterable[PatchInput],
        *,
        strict: bool = False,
        keep_pairs: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> MessageHistory:
        """The history with patches applied in order, all of them as one revision.

        A patch whose target is not active is skipped; with `strict`, `PatchError`. With `keep_pairs` a
        patch that touches a tool call or its result is widened to the whole exchange, or `PatchError`
        where that cannot be. Edits that change nothing return this history.
        """
        draft = EditableList(self._sequence.ids())
        fresh: dict[str, Entry] = {}
        recorded: list[FrozenDict] = []
        for index, given in enumerate(as_patches(patches, self._extent.graph.common.ids)):
            for patch in self._kept_together(given, draft, fresh) if keep_pairs else (given,):
                wanted, entries = self._recorded(patch, fresh, index)
                narrow, absent = narrowed(wanted, set(draft.ids).__contains__)
                if absent and self._sequence.missing:
                    raise _not_in_window(self._sequence)
                if absent and strict:
                    raise PatchError(patch.op, index, absent, "no such active entry")
                if narrow is None:
                    continue
                apply_patch(draft, narrow, str)
                twice = [entry.id for entry in entries if draft.ids.count(entry.id) > 1]
                if twice:
                    raise PatchError(patch.op, index, twice, "a view holds an entry once, and it is active already")
                fresh.update((e.id, e) for e in entries if self._extent.find_entry(e.id) is None)
                recorded.append(narrow)
        if not fresh and draft.ids == self._sequence.ids():
            return self
        if keep_pairs:
            self._check_pairs(draft.ids, fresh, len(recorded) - 1)
        sequence = self._sequence.changed_to(draft.ids)
        revision = self._next(Operation("edit", patches=tuple(recorded)), sequence.size, meta)
        return self._at(self._extent.added(fresh.values(), revision, sequence), revision, sequence)

    def fork(self, *, meta: Mapping[str, Any] | None = None) -> MessageHistory:
        """A history on a new revision with the same view: a place to branch off from."""
        revision = self._next(FORK, self.size, meta)
        return self._at(self._extent.added((), revision, self._sequence), revision, self._sequence)

    def with_view(self, view: View, *, meta: Mapping[str, Any] | None = None) -> MessageHistory:
        """The history with its head at a revision of the graph, or on a new revision that shows the given entries.

        Raises `UnknownRevisionError`, `UnknownEntryError`, and `ValueError` for an entry given twice.
        """
        if isinstance(view, str):
            revision = self.revision(view)
            return self._at(self._extent, revision, self._sequence_of(revision))
        ids = list(view)
        if len(set(ids)) < len(ids):
            raise InvalidHistoryError("a view holds an entry once; an id was given twice")
        for entry_id in ids:
            self.entry(entry_id)
        sequence = IdSequence.of(ids)
        revision = self._next(Operation("view", tuple(ids)), len(ids), meta)
        return self._at(self._extent.added((), revision, sequence), revision, sequence)

    # Moving

    def to_snapshot(self) -> Snapshot:
        """The whole graph. Its JSON is linear in the entries and operations."""
        self._need_all("the graph behind the head")
        entries = tuple(self._extent.all_entries())
        return Snapshot(entries=entries, revisions=tuple(self._extent.all_revisions()), head=self._head.id)

    def to_json(self) -> dict[str, Any]:
        """The whole graph as a JSON object."""
        return self.to_snapshot().to_json()

    @classmethod
    def from_snapshot(
        cls, snapshot: Snapshot | Mapping[str, Any], *, ids: IdMaker = new_id, clock: Clock = now_ms
    ) -> MessageHistory:
        """The history of a snapshot: ours, or the original's, where each revision lists its `entryIds`.

        Raises `InvalidHistoryError` where the snapshot contradicts itself.
        """
        snapshot = as_snapshot(snapshot)
        extent = grown(Extent(Graph(Common(ids, clock))), snapshot.revisions, pool_of(snapshot.entries))
        head, sequence = extent.find_revision(snapshot.head), extent.sequence(snapshot.head)
        if head is None or sequence is None:
            raise InvalidHistoryError(f"its head {snapshot.head!r} is not among its revisions")
        return cls._at(extent, head, sequence)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, ids: IdMaker = new_id, clock: Clock = now_ms) -> MessageHistory:
        """The history of what `to_json` gave."""
        return cls.from_snapshot(data, ids=ids, clock=clock)

    def changes_since(self, base: str | None = None) -> HistoryDelta:
        """Every revision after `base` in the lineage, and every entry that came in with them.

        What they took over from other branches is part of it. Without `base`: the whole lineage. Raises
        `UnknownRevisionError` for a base that is no ancestor.
        """
        revisions: list[Revision] = []
        for revision in self.lineage():
            if revision.id == base:
                break
            revisions.append(revision)
        else:
            if base is not None:
                raise UnknownRevisionError(base, "the lineage of this history")
        extent = self._extent
        revisions = completed(extent, revisions[::-1], None if base is None else self.revision(base))
        entries = {entry.id: entry for revision in revisions for entry in brought_in(extent, revision)}
        return HistoryDelta(entries=tuple(entries.values()), revisions=tuple(revisions), head=self._head.id, base=base)

    def apply(self, delta: HistoryDelta | Mapping[str, Any]) -> MessageHistory:
        """The history with a delta added and its head taken over. What is known already must be equal.

        Raises `UnknownRevisionError` where the delta's base is not in this graph.
        """
        delta = as_delta(delta)
        if delta.base is not None:
            self.revision(delta.base)
        for revision in delta.revisions:
            known = self._extent.find_revision(revision.id)
            if known is not None and known != revision:
                raise InvalidHistoryError(f"revision {revision.id!r} is known with other content")
        extent = grown(self._extent, delta.revisions, pool_of(delta.entries))
        return self._at(extent, self._head, self._sequence).with_view(delta.head)

    # Within

    def _next(self, operation: Operation, size: int, meta: Mapping[str, Any] | None) -> Revision:
        frozen = freeze_object(meta, "meta") if meta else EMPTY
        common, parent = self._extent.graph.common, self._head
        now = common.clock()
        if now == parent.created_at:
            now = parent.created_at  # one object for all revisions of a moment
        return Revision(common.ids(), parent.id, operation, size, now, None, frozen)

    def _need_all(self, what: str) -> None:
        if self.is_partial:
            raise NotLoadedError(what)

    def _recorded(self, patch: Patch, fresh: Mapping[str, Entry], index: int) -> tuple[FrozenDict, list[Entry]]:
        """The patch as it is recorded, by ids, and the entries that it brings in."""
        if isinstance(patch, Remove):
            return FrozenDict(op=patch.op, id=patch.id), []
        if isinstance(patch, Move):
            anchor = {"before": patch.before} if patch.before is not None else {"after": patch.after}
            return FrozenDict(op=patch.op, ids=FrozenList(dict.fromkeys(patch.ids)), **anchor), []
        if isinstance(patch, Summary):
            entry = make_entry(patch.entry.id, patch.entry.message, "summary", patch.entry.meta, patch.source_ids)
            self._check_known([entry], fresh)
            sources = FrozenList(dict.fromkeys(patch.source_ids))
            fields = FrozenDict(op=patch.op, sourceIds=sources, entryId=entry.id, replace=patch.replace)
            return fields, [entry]
        entries = list(patch.entries)
        self._check_known(entries, fresh)
        ids = FrozenList(entry.id for entry in entries)
        if len(set(ids)) < len(ids):
            raise PatchError(patch.op, index, ids, "an entry was given twice")
        return FrozenDict(op=patch.op, id=patch.id, entryIds=ids), entries

    def _check_known(self, entries: Iterable[Entry], fresh: Mapping[str, Entry]) -> None:
        for entry in entries:
            known = fresh.get(entry.id) or self._extent.find_entry(entry.id)
            if known is not None:
                check_same(known, entry)

    def _draft_entries(self, ids: Iterable[str], fresh: Mapping[str, Entry]) -> list[Entry]:
        return [fresh.get(i) or self.entry(i) for i in ids]

    def _kept_together(self, patch: Patch, draft: EditableList, fresh: Mapping[str, Entry]) -> Sequence[Patch]:
        """The patch widened so that it takes whole tool exchanges, and puts nothing inside one."""
        entries = self._draft_entries(draft.ids, fresh)
        if isinstance(patch, Remove):
            return [Remove(id=i) for i in widened([patch.id], entries)]
        if isinstance(patch, Move):
            return [Move(ids=widened(patch.ids, entries), before=patch.before, after=patch.after)]
        if isinstance(patch, Summary) and patch.replace:
            return [Summary(source_ids=widened(patch.source_ids, entries), entry=patch.entry, replace=True)]
        if isinstance(patch, InsertAfter):
            for positions in exchanges(entries):
                members = [entries[p].id for p in positions]
                if patch.id in members:
                    return [InsertAfter(id=members[-1], entries=patch.entries)]
        return [patch]

    def _check_pairs(self, ids: Sequence[str], fresh: Mapping[str, Entry], index: int) -> None:
        """`PatchError` where a draft parts a call from its result that were together before."""
        before = broken_pairs(self.refs())
        wrong = broken_pairs(self._draft_entries(ids, fresh))
        parted = [entry_id for entry_id in wrong if entry_id not in before]
        if parted:
            raise PatchError("edit", index, parted, f"would leave {wrong[parted[0]]}")

    def _sequence_of(self, revision: Revision) -> IdSequence:
        sequence = self._extent.sequence(revision.id)
        if sequence is None:
            raise NotLoadedError(f"the view of revision {revision.id!r}", f"log.history(at={revision.id!r})")
        return sequence


def originals(ids: Iterable[str], find: Callable[[str], Entry | None]) -> list[Entry]:
    """The turns that entries lead to: summaries expanded through their sources, recursively, each turn once."""
    turns: list[Entry] = []
    seen: set[str] = set()
    waiting = list(ids)[::-1]
    while waiting:
        entry_id = waiting.pop()
        if entry_id in seen:
            continue
        seen.add(entry_id)
        entry = find(entry_id)
        if entry is None:
            continue
        if entry.kind == "summary" and entry.sources:
            waiting.extend(reversed(entry.sources))
        else:
            turns.append(entry)
    return turns


def _held(sequence: IdSequence, last: int | None) -> list[str]:
    ids = sequence.ids()
    if last is not None:
        if last < 0:
            raise ValueError("last must not be negative")
        if last <= len(ids):
            return ids[len(ids) - last :]
    if sequence.missing:
        raise _not_in_window(sequence)
    return ids


def _not_in_window(sequence: IdSequence) -> NotLoadedError:
    return NotLoadedError(f"the first {sequence.missing} entries of the view", "log.history()")


def _by_id(items: Iterable[Revision | Entry]) -> dict[str, Revision | Entry]:
    return {item.id: item for item in items}
