"""Histories: what a patch, a commit or a view cannot do, and what is not in them."""

from __future__ import annotations

from collections.abc import Sequence

from msglog.errors.root import MsgLogError, named


class PatchError(MsgLogError, ValueError):
    """A patch cannot be applied: `op`, the `index` of the patch, and the `ids` in question."""

    op: str
    index: int
    ids: tuple[str, ...]

    def __init__(self, op: str, index: int, ids: Sequence[str], reason: str) -> None:
        super().__init__(
            f"patch {index} ({op}): {reason}: {named(ids)}; nothing was changed",
            op=op,
            index=index,
            ids=tuple(ids),
            reason=reason,
        )


class UnknownRevisionError(MsgLogError, LookupError):
    """No such revision in this history, log or lineage."""

    revision: str

    def __init__(self, revision: str, where: str = "this history") -> None:
        super().__init__(f"no revision {revision!r} in {where}", revision=revision, where=where)


class UnknownEntryError(MsgLogError, LookupError):
    """No entry with this id or seq."""

    entry: str | int

    def __init__(self, entry: str | int, where: str = "this history") -> None:
        super().__init__(f"no entry {entry!r} in {where}", entry=entry, where=where)


class NotLoadedError(MsgLogError, LookupError):
    """The history was loaded without what was asked for: `missing` says what, `call` loads it."""

    missing: str
    call: str

    def __init__(self, missing: str, call: str = "log.history(full=True)") -> None:
        super().__init__(f"{missing} was not loaded with this history; {call} loads it", missing=missing, call=call)


class InvalidHistoryError(MsgLogError, ValueError):
    """A snapshot, a delta or a history contradicts itself or the log that it is committed to."""

    reason: str

    def __init__(self, reason: str) -> None:
        super().__init__(f"not a valid history: {reason}", reason=reason)


class DuplicateEntryError(MsgLogError, ValueError):
    """An entry id is already in the log with other content, or came in through another branch."""

    entry_id: str
    reason: str

    def __init__(self, entry_id: str, reason: str) -> None:
        super().__init__(
            f"entry id {entry_id!r} is already used: {reason}; nothing was written. Use another id, or leave it out",
            entry_id=entry_id,
            reason=reason,
        )


class ConflictError(MsgLogError):
    """What a commit was built on has moved on: nothing was written.

    `expected` and `actual` are revision ids, or seqs for `expected_seq`; `ids` are the entries that a
    rebase needed and the new head no longer shows.
    """

    expected: str | int | None
    actual: str | int | None
    ids: tuple[str, ...]

    def __init__(
        self,
        expected: str | int | None,
        actual: str | int | None,
        ids: Sequence[str] = (),
        reason: str = "",
        *,
        may_rebase: bool = False,
    ) -> None:
        detail = f" ({named(ids)} no longer active)" if ids else (f" ({reason})" if reason else "")
        if isinstance(expected, int):
            text = f"the log was to end at seq {expected}, but ends at {actual}; nothing was written. "
            text += "Read what came since, and append again"
        else:
            text = f"built on revision {expected!r}, but the branch is at {actual!r}{detail}; nothing was written. "
            text += "Load the history again and redo the change"
            text += ', or commit with on_conflict="rebase"' if may_rebase else ""
        super().__init__(
            text,
            expected=expected,
            actual=actual,
            ids=tuple(ids),
            reason=reason,
        )


class BudgetTooSmall(MsgLogError, ValueError):  # noqa: N818 the word that users know
    """What must be kept does not fit into the budget: `deficit` tokens are lacking."""

    deficit: int
    budget: int

    def __init__(self, deficit: int, budget: int) -> None:
        super().__init__(
            f"what must be kept takes {deficit:,} tokens more than the budget of {budget:,}. "
            "Raise the budget, pin less, or summarise first",
            deficit=deficit,
            budget=budget,
        )
