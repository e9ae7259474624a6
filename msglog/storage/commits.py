"""Commits of histories: which of their revisions are new to a log, and what becomes of them there."""

from __future__ import annotations

from msglog.codec import FrozenDict, encode
from msglog.errors import (
    BatchTooLargeError,
    ConflictError,
    DuplicateEntryError,
    InvalidHistoryError,
    NotLoadedError,
    TooLargeError,
)
from msglog.history import MessageHistory, Revision
from msglog.history.operations import apply_patch, inserted_by, narrowed
from msglog.ids import new_id
from msglog.storage import statements as sql
from msglog.storage.ledger import head_of
from msglog.storage.line import Line, begin
from msglog.storage.lineage import segments
from msglog.storage.requests import BATCH_BYTES, Commit, Committed
from msglog.storage.rows import Draft, draft, operation_column
from msglog.storage.spans import SpanSequence, runs_of
from msglog.storage.transaction import Transaction

LINEAGE_PAGE = 64
"""Revisions of a history that are looked up in the log at once, newest first."""


def commit(transaction: Transaction, request: Commit) -> Committed:
    """Write the revisions that the log lacks, on the branch's head or, rebased, on whatever it is now."""
    history = request.history
    line = transaction.line(request.log, request.branch)
    if line.state.id == 0:
        return _commit_to_new(transaction, line, request)
    newer, base, replaced = _newer(transaction, line, history)
    on_line = _on_lineage(transaction, line, base)
    if not newer and (on_line or base == line.head.number):
        state = transaction.execute(sql.REVISION_STATE, (line.state.id, base))[0]
        return Committed(state[1], replaced, [])
    rebase = replaced
    if base != line.head.number:
        if not request.rebase or not newer:
            expected = transaction.execute(sql.REVISION_STATE, (line.state.id, base))[0][1]
            raise ConflictError(expected, line.head.id, may_rebase=bool(newer) and not request.rebase)
        rebase = True
    for revision in newer:
        _write_revision(transaction, line, request, revision, rebase=rebase)
    if line.revisions:
        _check_size(line)
        transaction.accept(line)
    return Committed(line.head.id, rebase, line.new)


def _commit_to_new(transaction: Transaction, line: Line, request: Commit) -> Committed:
    history = request.history
    try:
        revisions = list(history.lineage())[::-1]
    except NotLoadedError:
        reason = "the log is gone, or none of the history's revisions is in it"
        raise ConflictError(history.revision_id, None, reason=reason) from None
    root = revisions[0]
    if transaction.execute(sql.PURGED_ROOT, (root.id,)):
        raise ConflictError(history.revision_id, None, reason="the log was purged; append to begin a new one")
    line.bring_in(_drafts(request, root))
    shown = [line.seqs[i] for i in root.entry_ids or ()]
    begin(line, root.id, root.created_at * 1000, root, runs_of(shown))
    for revision in revisions[1:]:
        _write_revision(transaction, line, request, revision, rebase=False)
    _check_size(line)
    transaction.accept(line)
    return Committed(line.head.id, False, line.new)


def _check_size(line: Line) -> None:
    size = sum(item.size for item, _ in line.new)
    if size > BATCH_BYTES:
        raise BatchTooLargeError(size, BATCH_BYTES)


def _newer(transaction: Transaction, line: Line, history: MessageHistory) -> tuple[list[Revision], int, bool]:
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
        known = {r[1]: r[0] for r in transaction.execute(sql.REVISIONS_KNOWN, (line.state.id, listed))}
        replacing = {r[2]: r[0] for r in transaction.execute(sql.REVISIONS_REPLACING, (line.state.id, listed))}
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


def _on_lineage(transaction: Transaction, line: Line, number: int) -> bool:
    """Whether a revision is an ancestor of the line's head, or the head."""
    branch = transaction.execute(sql.BRANCH_OF, (line.state.id, number))[0][0]
    return any(
        branch == name and number <= last for name, last in segments(transaction.connection, line.state.id, line.branch)
    )


def _write_revision(transaction: Transaction, line: Line, request: Commit, revision: Revision, *, rebase: bool) -> None:
    history, operation = request.history, revision.operation
    at = revision.created_at * 1000
    new: list[Draft] = []
    for item in _drafts(request, revision):
        entry = item.entry
        found = None if entry.id in line.seqs else transaction.stored(line.state.id, entry.id)
        if found is None:
            if entry.id not in line.seqs:
                new.append(item)
        elif found[2] is not None or tuple(found[3:]) != item.content:
            raise DuplicateEntryError(entry.id, "it is stored with other content, or other metadata")
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
            view = transaction.view(line)
            ids = [i for i in ids if transaction.seq(line, i) not in view]
            if not ids and not new:
                return
        plain = ids == [item.entry.id for item in new]
        stored = operation_column(revision, of_new_entries=plain)
        if rebase and not plain:
            stored = encode({"type": "append", "entryIds": ids})
        runs = runs_of([transaction.seq(line, i) for i in ids])
        line.add_revision(made, stored, at, revision.meta, *transaction.shown(line, runs), replaces)
    else:
        view = _changed_view(transaction, line, history, revision, strict=rebase)
        transaction.next_chunk(line)
        stored = operation_column(revision, of_new_entries=False)
        line.add_revision(made, stored, at, revision.meta, view, view.tail.runs, len(view), replaces)
    if not rebase and line.head.size != revision.size:
        raise InvalidHistoryError(f"revision {revision.id!r} shows {line.head.size} entries, not {revision.size}")


def _changed_view(
    transaction: Transaction, line: Line, history: MessageHistory, revision: Revision, *, strict: bool
) -> SpanSequence:
    operation = revision.operation
    if revision.entry_ids is not None or operation is None or operation.entry_ids is not None:
        ids = revision.entry_ids or (operation.entry_ids if operation else ()) or ()
        return SpanSequence.of(transaction.seqs(line, ids))
    if operation.revision is not None:
        rows = transaction.execute(sql.REVISION_STATE_BY_ID, (line.state.id, operation.revision))
        if not rows:
            return SpanSequence.of(transaction.seqs(line, [entry.id for entry in history.refs(revision.id)]))
        return transaction.view_of(line.state.id, head_of(rows[0]))
    view = transaction.view(line)
    transaction.seqs(line, [i for patch in operation.patches for i in _named(patch)])
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


def _drafts(request: Commit, revision: Revision) -> list[Draft]:
    """The entries that a revision introduces, in the form in which they are to be stored."""
    drafts = [
        draft(request.changed.get(entry.id, entry), revision.created_at * 1000, fresh=False)
        for entry in request.history.introduced(revision.id)
    ]
    for item in drafts:
        if item.size > request.max_message_bytes:
            raise TooLargeError(item.size, request.max_message_bytes)
    return drafts


def _named(patch: FrozenDict) -> list[str]:
    """Every id that a recorded patch needs the seq of."""
    ids = [patch[f] for f in ("id", "before", "after", "entryId") if patch.get(f) is not None]
    for listed in ("ids", "entryIds"):
        ids += patch.get(listed, ())
    return [*ids, *patch["sourceIds"]] if patch.get("replace") else ids
