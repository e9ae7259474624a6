"""Checkpoints on their way into a store: each that changes what is shown is a revision, named in its metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msglog.errors import DuplicateEntryError, TooLargeError
from msglog.history import MessageHistory
from msglog.log import MessageLog
from msglog.message import Entry
from msglog.transfer.importers.conversation import Checkpoint, Checkpoints
from msglog.transfer.importers.planting import MOVED, ROOT
from msglog.transfer.importers.pouring import BATCH_CHARACTERS, Pouring, characters

COMMITTED = 64
"""Revisions that are committed together."""


@dataclass(slots=True)
class Revising:
    """The checkpoints of one conversation. One that is new goes on the branch that ends at its parent, if any does."""

    pouring: Pouring
    checkpoints: Checkpoints
    log: MessageLog = field(init=False)
    revision_of: dict[str, str] = field(default_factory=dict)
    shown: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of checkpoints that others are still made from
    known: dict[str, str] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # entries that were counted
    branch: str = "main"
    history: MessageHistory | None = None  # of that branch, with what is not committed yet
    waiting: int = 0
    size: int = 0

    def __post_init__(self) -> None:
        self.log = self.pouring.store.log(self.pouring.prefix + self.checkpoints.name)

    async def revise(self) -> None:
        """Store the revisions that the store lacks."""
        self.pouring.count(self.log.name)
        self.heads = {branch.name: branch.head for branch in await self.log.branches()}
        async for revision in self.log.revisions():
            name = revision.meta.get("checkpoint")
            if isinstance(name, str):
                self.known.setdefault(name, revision.id)
        left = Counter(parent for _, parent in self.checkpoints.order)
        try:
            for name, parent in self.checkpoints.order:
                await self._checkpoint(name, parent)
                left[parent] -= 1
                if parent is not None and not left[parent]:
                    self.shown.pop(parent, None)
            await self._commit()
        except (DuplicateEntryError, TooLargeError) as error:
            self.pouring.reading.losses.add(self.log.name, f"{error}; it and all after it were left out")
        self._tell_progress()
        self._note_current()
        await self.pouring.describe(self.log.name, self.checkpoints)

    def _tell_progress(self) -> None:
        if self.pouring.progress is not None:
            self.pouring.progress(self.pouring.reading.done, self.pouring.reading.total)

    def _note_current(self) -> None:
        current = self.checkpoints.current
        revision = None if current is None else self.revision_of.get(current)
        branches = [name for name, head in self.heads.items() if head == revision]
        if branches and "main" not in branches:
            self.pouring.reading.losses.add(self.log.name, MOVED.format(branches[0]))

    async def _checkpoint(self, name: str, parent: str | None) -> None:
        loaded = self.checkpoints.load(name)
        before = () if parent is None else self.shown.get(parent, ())
        base = None if parent is None else self.revision_of.get(parent)
        ids = before if loaded is None else tuple(entry.id for entry in loaded.entries)
        self.shown[name] = ids
        if loaded is not None:
            await self._count(loaded.entries)
        if name in self.known:
            self.revision_of[name] = self.known[name]
        elif loaded is None or ids == before:
            if base is not None:
                self.revision_of[name] = base
        else:
            self.revision_of[name] = await self._revision(name, base, loaded)

    async def _count(self, entries: Sequence[Entry]) -> None:
        unseen = [entry.id for entry in entries if entry.id not in self.seen]
        if unseen:
            held = await self.pouring.held(self.log.name, unseen)
            self.pouring.count(self.log.name, new=len(unseen) - len(held), known=len(held))
            self.seen.update(unseen)

    async def _revision(self, name: str, base: str | None, checkpoint: Checkpoint) -> str:
        """A new revision that shows a checkpoint; `base` is that of the one before it."""
        branch = "main"
        if self.heads:
            branch = next((each for each, head in self.heads.items() if head == base), "")
        if not branch:
            branch = await self._fork(name, base)
        if self.pouring.dry_run:
            self.heads[branch] = f"{name}, if it were imported"
            return self.heads[branch]
        if branch != self.branch or self.history is None:
            await self._commit()
            self.branch = branch
            self.history = await self.pouring.store.log(self.log.name, branch).history()
        self.history = stepped(self.history, checkpoint.entries, checkpoint.meta)
        revision = self.heads[branch] = self.history.revision_id
        self.waiting += 1
        self.size += sum(map(characters, self.history.introduced(revision)))
        if self.waiting >= COMMITTED or self.size >= BATCH_CHARACTERS:
            await self._commit()
        return revision

    async def _fork(self, name: str, base: str | None) -> str:
        await self._commit()
        self.pouring.count(self.log.name, branches=1)
        branch, n = name, 1
        while branch in self.heads:
            n += 1
            branch = f"{name}-{n}"
        if not self.pouring.dry_run:
            if base is None:
                base = str((await self.pouring.store.sql(ROOT, (self.log.name,)))[0]["id"])
            await self.log.fork(branch, at=base)
        return branch

    async def _commit(self) -> None:
        if self.waiting and self.history is not None:
            await self.pouring.store.log(self.log.name, self.branch).commit(self.history)
            self._tell_progress()
        self.history, self.waiting, self.size = None, 0, 0


def stepped(history: MessageHistory, entries: Sequence[Entry], meta: dict[str, Any]) -> MessageHistory:
    """The history with one revision more, which shows these entries: an append where it is one, else an edit."""
    shown = [entry.id for entry in history.refs()]
    wanted = [entry.id for entry in entries]
    if wanted[: len(shown)] == shown:
        return history.append(*entries[len(shown) :], meta=meta)
    active = set(shown)
    staying = [entry_id for entry_id in wanted if entry_id in active]
    gone = [entry_id for entry_id in shown if entry_id not in set(staying)]
    if staying != [entry_id for entry_id in shown if entry_id not in set(gone)]:
        fresh = [entry for entry in entries if entry.id not in active]
        return history.append(*fresh).with_view(wanted, meta=meta)
    return history.edit(_patches(entries, active, staying, gone), strict=True, meta=meta)


def _patches(
    entries: Sequence[Entry], active: set[str], staying: Sequence[str], gone: Sequence[str]
) -> list[dict[str, Any]]:
    """What is put in beside what stays, and what is taken out."""
    patches: list[dict[str, Any]] = []
    run: list[Entry] = []
    after: str | None = None
    for entry in [*entries, None]:
        if entry is not None and entry.id not in active:
            run.append(entry)
            continue
        if run and after is not None:
            patches.append({"op": "insertAfter", "id": after, "entries": run})
        elif run and staying:
            patches.append({"op": "insertBefore", "id": staying[0], "entries": run})
        elif run:
            patches.append({"op": "replace", "id": gone[0], "entries": run})
            gone = gone[1:]
        run = []
        after = entry.id if entry is not None else after
    return patches + [{"op": "remove", "id": entry_id} for entry_id in gone]
