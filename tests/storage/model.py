"""A log as plain Python: lists of ids, written from the design alone. What the storage is measured against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Patch = Mapping[str, Any]
New = tuple[Mapping[str, Any], tuple[str, ...]]
"""The message of a new entry, and its sources."""


class Refused(Exception):  # noqa: N818 what the model says no to
    """The storage must refuse this as well."""


@dataclass
class Stored:
    """An entry: its seq is its place in `LogModel.entries`, counted from 1."""

    id: str
    message: Mapping[str, Any]
    revision: int
    sources: tuple[str, ...] = ()
    redacted: bool = False


@dataclass
class Shown:
    """A revision: the ids that it shows, and the branch that it was made through."""

    id: str
    parent: int | None
    branch: str
    view: list[str]
    replaces: str | None = None


@dataclass
class Change:
    """What one local revision did: `kind` is append, edit, fork or view."""

    kind: str
    ids: tuple[str, ...] = ()
    patches: tuple[Patch, ...] = ()
    new: dict[str, New] = field(default_factory=dict)


def carried_out(view: Sequence[str], patch: Patch) -> list[str]:
    """The view after a patch whose targets are all in it."""
    op = patch["op"]
    ids = list(view)
    if op == "remove":
        ids.remove(patch["id"])
    elif op in ("replace", "split"):
        at = ids.index(patch["id"])
        ids[at : at + 1] = patch["entries"]
    elif op in ("insertBefore", "insertAfter"):
        at = ids.index(patch["id"]) + (op == "insertAfter")
        ids[at:at] = patch["entries"]
    elif op == "move":
        moving = [i for i in ids if i in patch["ids"]]
        ids = [i for i in ids if i not in patch["ids"]]
        at = len(ids)
        if "before" in patch:
            at = ids.index(patch["before"])
        elif "after" in patch:
            at = ids.index(patch["after"]) + 1
        ids[at:at] = moving
    else:
        at = len(ids)
        if patch["replace"]:
            places = [i for i, entry_id in enumerate(ids) if entry_id in patch["ids"]]
            at = places[0] if places else at
            ids = [i for i in ids if i not in patch["ids"]]
        ids[at:at] = [patch["entry"]]
    if len(set(ids)) < len(ids):
        raise Refused("a view holds an entry once")
    return ids


def narrowed(view: Sequence[str], patch: Patch) -> Patch | None:
    """A patch as far as its targets are in the view; None where nothing is left of it."""
    if patch["op"] == "move":
        ids = [i for i in patch["ids"] if i in view]
        kept = {"op": "move", "ids": ids}
        for anchor in ("before", "after"):
            if patch.get(anchor) in view and patch[anchor] not in ids:
                kept[anchor] = patch[anchor]
        return kept if ids else None
    if patch["op"] == "summary":
        return {**patch, "ids": [i for i in patch["ids"] if i in view]} if patch["replace"] else patch
    return patch if patch["id"] in view else None


def targets(patch: Patch) -> set[str]:
    """The ids that a strict replay needs."""
    if patch["op"] == "summary":
        return set(patch["ids"]) if patch["replace"] else set()
    named = {patch[f] for f in ("id", "before", "after") if f in patch}
    return named | set(patch.get("ids", ()))


class LogModel:
    """One log."""

    def __init__(self) -> None:
        self.entries: list[Stored] = []
        self.revisions: list[Shown] = []
        self.heads: dict[str, int] = {}

    def seq(self, entry_id: str) -> int | None:
        return next((n for n, entry in enumerate(self.entries, 1) if entry.id == entry_id), None)

    def entry(self, entry_id: str) -> Stored:
        return next(entry for entry in self.entries if entry.id == entry_id)

    def number(self, revision: str) -> int | None:
        """The number of a revision, by its id or by what it replaces."""
        for number, shown in enumerate(self.revisions):
            if revision in (shown.id, shown.replaces):
                return number
        return None

    def head(self, branch: str) -> Shown:
        return self.revisions[self.heads[branch]]

    def lineage(self, number: int | None) -> list[int]:
        """A revision and its ancestors, newest first."""
        found = []
        while number is not None:
            found.append(number)
            number = self.revisions[number].parent
        return found

    def brought_in(self, branch: str) -> list[int]:
        """The seqs that the lineage of a branch brought in."""
        line = set(self.lineage(self.heads.get(branch)))
        return [seq for seq, entry in enumerate(self.entries, 1) if entry.revision in line]

    def grow(self, branch: str, revision: str, view: list[str], replaces: str | None = None) -> None:
        """A new revision, to which the branch moves."""
        parent = self.heads.get(branch)
        self.revisions.append(Shown(revision, parent, branch, view, replaces))
        self.heads[branch] = len(self.revisions) - 1

    def store(self, entry_id: str, message: Mapping[str, Any], sources: tuple[str, ...] = ()) -> None:
        """A new entry, which comes in with the next revision."""
        self.entries.append(Stored(entry_id, message, len(self.revisions), sources))

    # Append

    def already(self, branch: str, entry_id: str, message: Mapping[str, Any]) -> int | None:
        """The seq of an entry that counts as appended; `Refused` where its id is taken."""
        seq = self.seq(entry_id)
        if seq is None:
            return None
        entry = self.entries[seq - 1]
        if entry.redacted or entry.message != message or entry.sources:
            raise Refused("other content")
        first_through = self.revisions[entry.revision].branch
        if first_through != branch and entry_id not in self.head(branch).view:
            raise Refused("another branch")
        return seq

    # Commit

    def check(
        self, branch: str, base: int, revisions: Sequence[tuple[str, Change]], *, rebase: bool
    ) -> list[list[str]]:
        """The views that revisions come to on a branch; `Refused` where they cannot."""
        views = []
        view = self.head(branch).view if rebase else self.revisions[base].view
        for _, change in revisions:
            for entry_id, (message, sources) in change.new.items():
                if self.seq(entry_id) is not None:
                    known = self.entry(entry_id)
                    if known.redacted or known.message != message or known.sources != sources:
                        raise Refused("other content")
            view = self._replayed(view, change, strict=rebase)
            views.append(view)
        return views

    def _replayed(self, view: list[str], change: Change, *, strict: bool) -> list[str]:
        if change.kind == "append":
            return [*view, *(i for i in change.ids if i not in view)]
        if change.kind == "fork":
            return view
        if change.kind == "view":
            if strict:
                raise Refused("a view never rebases")
            return list(change.ids)
        for patch in change.patches:
            if not targets(patch) <= set(view):
                raise Refused("not active")
            view = carried_out(view, patch)
        return view
