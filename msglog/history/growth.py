"""Revisions that come from outside, added to a graph: each one checked against what it claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from msglog.errors import DuplicateEntryError, InvalidHistoryError, NotLoadedError
from msglog.history.graph import Extent, Revision
from msglog.history.operations import apply_patch, narrowed
from msglog.history.sequence import EditableList, IdSequence
from msglog.message import Entry


def pool_of(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Entries by id; `DuplicateEntryError` where two of one id differ."""
    pool: dict[str, Entry] = {}
    for entry in entries:
        check_same(pool.setdefault(entry.id, entry), entry)
    return pool


def check_same(known: Entry, entry: Entry) -> None:
    """`DuplicateEntryError` unless two entries of one id hold the same JSON, to the type and key order."""
    if known is not entry and repr(known.to_json()) != repr(entry.to_json()):
        raise DuplicateEntryError(entry.id, "it is known with other content")


def grown(extent: Extent, revisions: Iterable[Revision], pool: Mapping[str, Entry]) -> Extent:
    """`extent` with `revisions` added, in any order, each after those that it builds on.

    Entries come from `pool` with the first revision that names them, or a summary over them; those that
    none names come with the first root. Raises `InvalidHistoryError` for a revision that contradicts its
    parent, its operation or its size, or that lacks one of them; `NotLoadedError` where the graph is
    partial, and what is lacking may be in the log.
    """
    for entry_id, entry in pool.items():
        known = extent.find_entry(entry_id)
        if known is not None:
            check_same(known, entry)
    pending: dict[str, Revision] = {}
    for revision in revisions:
        if extent.find_revision(revision.id) is None and pending.setdefault(revision.id, revision) is not revision:
            raise InvalidHistoryError(f"revision {revision.id!r} is given twice")
    ordered = _in_order(extent, pending)
    introduced: set[str] = set()
    brought_in = {r.id: _brought_in(r, extent, pool, introduced) for r in ordered}
    strays = [entry for i, entry in pool.items() if i not in introduced and extent.find_entry(i) is None]
    for revision in ordered:
        entries = brought_in[revision.id]
        if revision.parent is None:
            entries, strays = [*entries, *strays], []
        extent = _added(extent, revision, entries)
    return extent


def _in_order(extent: Extent, pending: Mapping[str, Revision]) -> list[Revision]:
    needed: dict[str, list[str]] = {}
    in_order = True
    for revision in pending.values():
        went_to = None if revision.operation is None else revision.operation.revision
        builds_on = [i for i in (revision.parent, went_to) if i is not None]
        for revision_id in builds_on:
            if revision_id not in pending and extent.find_revision(revision_id) is None:
                reason = f"revision {revision.id!r} builds on {revision_id!r}, which is not there"
                raise _absent(extent, f"revision {revision_id!r}", reason)
        in_order = in_order and all(i in needed for i in builds_on if i in pending)
        needed[revision.id] = [i for i in builds_on if i in pending]
    if in_order:
        return list(pending.values())
    try:
        return [pending[revision_id] for revision_id in TopologicalSorter(needed).static_order()]
    except CycleError as error:
        raise InvalidHistoryError(f"revision {error.args[1][0]!r} builds on itself") from None


def _absent(extent: Extent, what: str, reason: str) -> InvalidHistoryError | NotLoadedError:
    return NotLoadedError(what) if extent.graph.common.partial else InvalidHistoryError(reason)


def _brought_in(revision: Revision, extent: Extent, pool: Mapping[str, Entry], introduced: set[str]) -> list[Entry]:
    """The entries that come in with a revision: those it names, and their sources, unless they came before."""
    wanted = [*(revision.operation.brought_in() if revision.operation else ()), *(revision.entry_ids or ())]
    entries: list[Entry] = []
    for entry_id in wanted:  # grows while it is walked, by the sources of what it finds
        entry = pool.get(entry_id)
        if entry is not None and entry_id not in introduced and extent.find_entry(entry_id) is None:
            introduced.add(entry_id)
            entries.append(entry)
            wanted.extend(entry.sources)
    return entries


def _added(extent: Extent, revision: Revision, entries: Sequence[Entry]) -> Extent:
    fresh = {entry.id for entry in entries}
    operation, stated = revision.operation, revision.entry_ids
    if operation is not None and operation.type == "append":
        return _appended(extent, revision, operation.entry_ids or (), entries)
    sequence = _result(extent, revision)
    if sequence is not None and not _agrees(sequence, stated):
        if operation is None or operation.type != "edit":
            raise InvalidHistoryError(f"revision {revision.id!r} lists other entries than its operation gives")
        sequence = None
    if sequence is not None:
        stated = None
    elif stated is not None:
        sequence = IdSequence.of(stated)
    else:
        raise InvalidHistoryError(f"revision {revision.id!r} does not tell which entries it shows")
    if operation is None or operation.type != "fork":
        _check_shown(extent, revision, sequence.ids(), fresh)
    return extent.added(entries, _sized(revision, sequence.size, stated), sequence)


def _appended(extent: Extent, revision: Revision, ids: Sequence[str], entries: Sequence[Entry]) -> Extent:
    before = _sequence(extent, revision.parent)
    if not _agrees(before, revision.entry_ids, ids):
        raise InvalidHistoryError(f"revision {revision.id!r} lists other entries than its operation gives")
    fresh = {entry.id for entry in entries}
    _check_shown(extent, revision, ids, fresh)
    for entry_id in ids:
        if entry_id not in fresh and entry_id in before:
            raise InvalidHistoryError(f"revision {revision.id!r} appends entry {entry_id!r}, which is there already")
    return extent.appended(entries, _sized(revision, before.size + len(ids), None), before, ids)[0]


def _agrees(sequence: IdSequence, stated: tuple[str, ...] | None, ids: Sequence[str] = ()) -> bool:
    return stated is None or (*sequence.ids(), *ids) == stated[sequence.missing :]


def _check_shown(extent: Extent, revision: Revision, ids: Sequence[str], fresh: AbstractSet[str]) -> None:
    if len(set(ids)) < len(ids):
        raise InvalidHistoryError(f"revision {revision.id!r} shows an entry twice")
    for entry_id in ids:
        if entry_id not in fresh and extent.find_entry(entry_id) is None:
            reason = f"revision {revision.id!r} shows entry {entry_id!r}, which is not there"
            raise _absent(extent, f"entry {entry_id!r}", reason)


def _sized(revision: Revision, size: int, stated: tuple[str, ...] | None) -> Revision:
    if revision.size not in {-1, size}:
        raise InvalidHistoryError(f"revision {revision.id!r} says that it shows {revision.size} entries, not {size}")
    return replace(revision, size=size, entry_ids=stated)


def _sequence(extent: Extent, revision_id: str | None) -> IdSequence:
    sequence = None if revision_id is None else extent.sequence(revision_id)
    return IdSequence.of(()) if sequence is None else sequence


def _result(extent: Extent, revision: Revision) -> IdSequence | None:
    """What the operation makes of the parent's sequence; None where only the stated sequence tells."""
    operation = revision.operation
    if operation is None:
        return IdSequence.of(()) if revision.parent is None and not revision.entry_ids else None
    if operation.type == "view":
        if operation.revision is not None:
            return _sequence(extent, operation.revision)
        return IdSequence.of(operation.entry_ids or ())
    before = _sequence(extent, revision.parent)
    if operation.type == "fork":
        return before
    draft = EditableList(before.ids())
    try:
        for patch in operation.patches:
            kept, absent = narrowed(patch, set(draft.ids).__contains__)
            if absent and before.missing:
                raise NotLoadedError(f"the first {before.missing} entries of the view", "log.history()")
            if (absent or kept is None) and revision.entry_ids is None:
                raise InvalidHistoryError(f"revision {revision.id!r} edits entries that its parent lacks: {absent}")
            if kept is not None:
                apply_patch(draft, kept, str)
    except KeyError:  # a patch of the original's that does not name what it brought in
        return None
    return before.changed_to(draft.ids)
