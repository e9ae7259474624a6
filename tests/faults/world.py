"""A store as plain Python: what it must show, and what each kind of write makes of that.

A `Deed` is one write, drawn at random: what to call, and what it does to the plain world. Whatever goes wrong
below a store, it must show the world before the deed, or the world after it.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from msglog import Store
from tests.strategies import user

Call = Callable[[Store], Awaitable[Any]]


@dataclass
class PlainLog:
    """A log: its entries in order, and of each branch the views that it showed one after the other."""

    entries: dict[str, str | None] = field(default_factory=dict)
    """Texts by entry id; None where redacted."""
    branches: dict[str, list[list[str]]] = field(default_factory=lambda: {"main": [[]]})

    def shown(self) -> tuple[Any, ...]:
        """What a store tells of it."""
        branches = {name: (len(views), views[-1]) for name, views in self.branches.items()}
        return list(self.entries.items()), branches

    def append(self, branch: str, texts: dict[str, str]) -> None:
        self.entries |= texts
        views = self.branches[branch]
        views.append([*views[-1], *texts])


@dataclass
class World:
    """The logs of a store."""

    logs: dict[str, PlainLog] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        return {name: log.shown() for name, log in self.logs.items()}

    def redacted(self) -> set[str]:
        """Ids of entries whose text is gone, all over the store's logs."""
        return {entry_id for log in self.logs.values() for entry_id, text in log.entries.items() if text is None}


async def seen(store: Store) -> dict[str, Any]:
    """What a store shows, to be compared with what a world does."""
    shown = {}
    for info in await store.logs():
        log = store.log(info.name)
        entries = [(m.entry_id, None if m.redacted else m.text) for m in await log.raw.all()]
        branches = {}
        for branch in await log.branches():
            on = store.log(info.name, branch.name)
            length = len([revision async for revision in on.lineage()])
            branches[branch.name] = (length, [message.entry_id for message in await on.all()])
        shown[info.name] = (entries, branches)
    return shown


@dataclass(frozen=True)
class Deed:
    """One write: how a store is asked for it, and what it makes of the world."""

    kind: str
    do: Call
    after: World
    made: Path | None = None
    """A file that is to hold a copy of the store."""


def secret(entry_id: str) -> str:
    """A word that stands in the text of this entry alone."""
    return f"QZ{entry_id}ZQ"


class Deeds:
    """Deeds drawn at random, each with ids of its own."""

    def __init__(self, random: Random, folder: Path, first: int = 1) -> None:
        self.random = random
        self._folder = folder
        self._count = first - 1

    def draw(self, world: World, kind: str | None = None) -> Deed:
        """A deed that the world allows."""
        kind = kind or self.random.choice(KINDS)
        while (deed := getattr(self, f"_{kind}")(copy.deepcopy(world))) is None:
            kind = self.random.choice(KINDS)
        made: Deed = deed
        return made

    def _new(self) -> str:
        self._count += 1
        return f"e{self._count}"

    def _texts(self, count: int) -> dict[str, str]:
        size = self.random.choice([0, 50, 700, 9000])
        return {new: f"{secret(new)} {'x' * size}" for new in (self._new() for _ in range(count))}

    def _place(self, world: World) -> tuple[str, str, PlainLog] | None:
        if not world.logs:
            return None
        name = self.random.choice(sorted(world.logs))
        return name, self.random.choice(sorted(world.logs[name].branches)), world.logs[name]

    def _append(self, world: World, many: int = 1) -> Deed | None:
        if (place := self._place(world)) is None:
            return None
        name, branch, log = place
        texts = self._texts(many)
        log.append(branch, texts)
        inputs = [{"id": entry_id, "message": user(text)} for entry_id, text in texts.items()]
        return Deed("append", lambda store: store.log(name, branch).append_many(inputs), world)

    def _append_many(self, world: World) -> Deed | None:
        deed = self._append(world, self.random.choice([3, 12]))
        return deed and Deed("append_many", deed.do, deed.after)

    def _begin(self, world: World) -> Deed:
        name = f"log {self._new()}"
        world.logs[name] = PlainLog()
        ((entry_id, text),) = (texts := self._texts(1)).items()
        world.logs[name].append("main", texts)
        return Deed("begin", lambda store: store.log(name).append(user(text), id=entry_id), world)

    def _commit(self, world: World) -> Deed | None:
        if (place := self._place(world)) is None:
            return None
        name, branch, log = place
        texts = self._texts(2)
        (first, text), (second, other) = texts.items()
        log.append(branch, {first: text})
        view = log.branches[branch][-1]
        gone = self.random.choice(view)
        log.entries[second] = other
        log.branches[branch].append([second if entry_id == gone else entry_id for entry_id in view])

        async def do(store: Store) -> None:
            history = (await store.log(name, branch).history()).append({"id": first, "message": user(text)})
            entries = [{"id": second, "message": user(other)}]
            await store.log(name, branch).commit(history.edit({"op": "replace", "id": gone, "entries": entries}))

        return Deed("commit", do, world)

    def _fork(self, world: World) -> Deed | None:
        if (place := self._place(world)) is None:
            return None
        name, branch, log = place
        new = f"branch {self._new()}"
        views = log.branches[branch]
        back = self.random.randrange(min(3, len(views)))
        log.branches[new] = copy.deepcopy(views[: len(views) - back])

        async def do(store: Store) -> None:
            at = [revision.id async for revision in store.log(name, branch).lineage()][back]
            await store.log(name, branch).fork(new, at)

        return Deed("fork", do, world)

    def _rewind(self, world: World) -> Deed | None:
        if (place := self._place(world)) is None:
            return None
        name, branch, log = place
        views = log.branches[branch]
        back = self.random.randrange(1, len(views)) if len(views) > 1 else 0
        if back == 0:
            return None
        views.append(list(views[-1 - back]))

        async def do(store: Store) -> None:
            at = [revision.id async for revision in store.log(name, branch).lineage()][back]
            await store.log(name, branch).rewind(at)

        return Deed("rewind", do, world)

    def _redact(self, world: World) -> Deed | None:
        if (place := self._place(world)) is None:
            return None
        name, _, log = place
        left = [entry_id for entry_id, text in log.entries.items() if text is not None]
        if not left:
            return None
        entry_id = self.random.choice(left)
        log.entries[entry_id] = None
        return Deed("redact", lambda store: store.log(name).redact(entry_id, "asked for"), world)

    def _purge(self, world: World) -> Deed | None:
        if len(world.logs) < 2:
            return None
        name = self.random.choice(sorted(world.logs))
        del world.logs[name]
        return Deed("purge", lambda store: store.purge(name), world)

    def _backup(self, world: World) -> Deed:
        target = self._folder / f"backup-{self._new()}.db"
        return Deed("backup", lambda store: store.backup(target), world, target)

    def _compact(self, world: World) -> Deed:
        return Deed("compact", lambda store: store.compact(), world)

    def _repair(self, world: World) -> Deed:
        """Of a store in which nothing is wrong."""
        return Deed("repair", lambda store: store.repair(dry_run=False), world)


KINDS = ("append", "append_many", "begin", "commit", "fork", "rewind", "redact", "purge", "backup", "compact", "repair")


async def grown(store: Store, deeds: Deeds, count: int) -> World:
    """A world of a few logs, and the store that holds it."""
    world = World()
    for kind in ["begin", "begin", "append_many", "fork", *([None] * count)]:
        deed = deeds.draw(world, kind)
        await deed.do(store)
        world = deed.after
    assert await seen(store) == world.shown(), "without a fault they agree"
    return world
