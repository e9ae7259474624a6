"""What a revision brought into its lineage, and what a lineage needs that lies beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msglog.history.graph import Extent, Revision
from msglog.message import Entry


def ancestors(extent: Extent, revision: Revision) -> Iterator[Revision]:
    """The revisions above one, from its parent on, as far as they are at hand."""
    while revision.parent is not None:
        parent = extent.find_revision(revision.parent)
        if parent is None:
            return
        yield parent
        revision = parent


def brought_in(extent: Extent, revision: Revision) -> list[Entry]:
    """The entries that came into a revision's lineage with it, in order.

    Those that the graph first saw with it, and those that it took over from another branch: by naming
    them, or as sources of a summary.
    """
    own = extent.introduced(revision.id)
    known = {entry.id for entry in own}
    waiting = [*_named(extent, revision), *(source for entry in own for source in entry.sources)]
    if known.issuperset(waiting):
        return own
    known.update(() if revision.parent is None else extent.sequence(revision.parent) or ())
    taken: dict[str, Entry] = {}
    for entry_id in waiting:  # grows while it is walked, by the sources of what it finds
        entry = None if entry_id in known else extent.find_entry(entry_id)
        known.add(entry_id)
        if entry is not None:
            taken[entry_id] = entry
            waiting.extend(entry.sources)
    for ancestor in ancestors(extent, revision):
        if not taken:
            break
        for entry_id in (*(entry.id for entry in extent.introduced(ancestor.id)), *_named(extent, ancestor)):
            taken.pop(entry_id, None)
    return [*own, *taken.values()]


def completed(extent: Extent, revisions: list[Revision], base: Revision | None) -> list[Revision]:
    """The `revisions` of a lineage after `base`, and before them those of other branches that views went to."""
    targets = [*_targets(revisions)]
    known = {revision.id for revision in revisions}
    if known.issuperset(targets):
        return revisions
    if base is not None:
        known.update([base.id, *(revision.id for revision in ancestors(extent, base))])
    for target in targets:  # grows while it is walked, by the targets of what it finds
        found = extent.find_revision(target)
        if found is None or target in known:
            continue
        branch = [found]
        for revision in ancestors(extent, found):
            if revision.id in known:
                break
            branch.append(revision)
        known.update(revision.id for revision in branch)
        targets.extend(_targets(branch))
        revisions = branch[::-1] + revisions
    return revisions


def _targets(revisions: Iterable[Revision]) -> Iterator[str]:
    for revision in revisions:
        if revision.operation is not None and revision.operation.revision is not None:
            yield revision.operation.revision


def _named(extent: Extent, revision: Revision) -> Iterator[str]:
    if revision.operation is not None:
        yield from revision.operation.brought_in()
        if revision.operation.revision is not None:
            yield from extent.sequence(revision.operation.revision) or ()
    yield from revision.entry_ids or ()
