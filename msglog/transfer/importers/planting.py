"""Trees of messages on their way into a store: the main path, and a branch for each alternative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from msglog.errors import UnknownEntryError
from msglog.log import MessageLog
from msglog.message import Entry
from msglog.transfer.importers.conversation import Node, Tree
from msglog.transfer.importers.pouring import BATCH, BATCH_CHARACTERS, Held, Pouring, characters, digest

MOVED = "its current path is on branch {} now; main was left where it is"
"""What a report says of a source that went on from another point than main's end."""

ROOT = "SELECT r.id FROM logs AS l JOIN revisions AS r ON r.log_id = l.id AND r.number = 0 WHERE l.name = ?"


@dataclass(slots=True)
class Planting:
    """One tree. A node that is new goes on the branch of its parent, if that ends there; else a branch begins."""

    pouring: Pouring
    tree: Tree
    log: MessageLog = field(init=False)
    nodes: dict[str, Node] = field(init=False)
    held: dict[str, Held] = field(default_factory=dict)
    branches: set[str] = field(default_factory=set)
    branch_of: dict[str, str] = field(default_factory=dict)
    entries_of: dict[str, list[str]] = field(default_factory=dict)
    above: dict[str, str | None] = field(default_factory=dict)  # for each node, the nearest before it that has entries
    continued: set[str | None] = field(default_factory=set)  # nodes that another follows on their branch
    batch: list[Entry] = field(default_factory=list)
    size: int = 0
    branch: str = "main"  # where the batch goes

    def __post_init__(self) -> None:
        self.log = self.pouring.store.log(self.pouring.prefix + self.tree.name)
        self.nodes = {node.id: node for node in self.tree.nodes}

    async def plant(self) -> None:
        """Store what the tree has that the store lacks."""
        tree, pouring = self.tree, self.pouring
        name = self.log.name
        pouring.count(name)
        for start in range(0, len(tree.nodes), BATCH):
            ids = [node.id for node in tree.nodes[start : start + BATCH]]
            self.held |= await pouring.held(name, ids)
        self.branches = {branch.name for branch in await self.log.branches()}
        self.branch_of = {entry_id: held.branch for entry_id, held in self.held.items()}
        for node in tree.nodes:
            if node.id in self.held and node.parent in self.held:
                self._note_continued(node.parent, self.branch_of[node.id])
        children = Counter(node.parent for node in tree.nodes)
        for node in tree.nodes:
            await self._place(node)
            if children[node.id] > 1 or len(self.batch) >= BATCH or self.size >= BATCH_CHARACTERS:
                await self._flush()
        await self._flush()
        self._note_current()
        await pouring.describe(name, tree)

    def _note_continued(self, node: str | None, branch: str) -> None:
        if node is not None and self.branch_of[node] == branch:
            self.continued.add(node)

    async def _place(self, node: Node) -> None:
        entries = self.tree.load(node)
        before = None if node.parent is None else self.above[node.parent]
        self.above[node.id] = node.id if entries else before
        if not entries:
            return
        self.entries_of[node.id] = [entry.id for entry in entries]
        held = self.held.get(node.id)
        if held is not None:
            self._note_continued(before, held.branch)
            self.pouring.count(self.log.name, known=len(entries))
            if held.digest not in {None, digest(entries[0])}:
                self.pouring.reading.losses.add(self.log.name, f"message {node.id}: {_CHANGED}")
            return
        branch = await self._branch_for(node, before)
        if branch != self.branch:
            await self._flush()
            self.branch = branch
        self.branch_of[node.id] = branch
        self._note_continued(before, branch)
        if node.summary and before is not None:
            await self._summarise(entries)
        else:
            self.batch += entries
            self.size += sum(map(characters, entries))

    async def _branch_for(self, node: Node, before: str | None) -> str:
        if before is None:
            return "main" if not self.branch_of else await self._fork(node, before)
        return await self._fork(node, before) if before in self.continued else self.branch_of[before]

    async def _fork(self, node: Node, before: str | None) -> str:
        """A branch that shows the path to a node, and begins with another one."""
        await self._flush()
        taken = set(self.branch_of.values()) | {"main"}
        name, n = node.branch, 1
        while name in taken:
            n += 1
            name = f"{node.branch}-{n}"
        self.pouring.count(self.log.name, branches=1)
        if self.pouring.dry_run:
            return name
        path = self._path(before)
        if name not in self.branches:  # it may be there without a message of ours, left by an interrupted run
            await self.log.fork(name, at=await self._revision(path[-1] if path else None))
        log = self.pouring.store.log(self.log.name, name)
        history = await log.history()
        if [entry.id for entry in history.refs()] != path:
            try:
                await log.commit(history.with_view(path))
            except UnknownEntryError:
                self.pouring.reading.losses.add(self.log.name, f"branch {name}: {_EDITED}")
        return name

    def _path(self, node: str | None) -> list[str]:
        """The entries that a model was shown up to a node."""
        path: list[str] = []
        while node is not None:
            path += reversed(self.entries_of[node])
            parent = self.nodes[node].parent
            if self.nodes[node].summary:
                break
            node = None if parent is None else self.above[parent]
        return path[::-1]

    async def _revision(self, entry_id: str | None) -> str:
        """The revision that brought an entry in; the log's root for none."""
        if entry_id is not None:
            return (await self.pouring.held(self.log.name, [entry_id]))[entry_id].revision
        rows = await self.pouring.store.sql(ROOT, (self.log.name,))
        return str(rows[0]["id"])

    async def _summarise(self, entries: Sequence[Entry]) -> None:
        await self._flush()
        summary, *further = entries
        if not self.pouring.dry_run:
            log = self.pouring.store.log(self.log.name, self.branch)
            sources = [entry.id for entry in (await log.history()).refs()]
            given = {"id": summary.id, "message": summary.message, "meta": summary.meta}
            await log.edit({"op": "summary", "sourceIds": sources, "entry": given, "replace": True})
        self.pouring.count(self.log.name, new=1)
        self.batch += further

    async def _flush(self) -> None:
        if self.batch:
            await self.pouring.append(self.pouring.store.log(self.log.name, self.branch), self.batch)
            self.batch, self.size = [], 0

    def _note_current(self) -> None:
        current = self.tree.current
        at = None if current is None else self.above.get(current)
        branch = "main" if at is None else self.branch_of[at]
        if branch != "main":
            self.pouring.reading.losses.add(self.log.name, MOVED.format(branch))


_CHANGED = "the source has another text for it now; the log keeps what it has"
_EDITED = "what is before it was edited here, so that it begins with more than its own path"
