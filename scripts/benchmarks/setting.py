"""How large everything is, and where it happens: the sizes, a folder, and the SQLite library of both sides."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import msglog
import msglog.sync
from scripts.benchmarks.workload import MESSAGE

Level = Literal["full", "normal"]


@dataclass(frozen=True)
class Sizes:
    """How much of everything. Each is a flag of `scripts/bench`; what they say of themselves is its help."""

    appends: int = 1500
    callers: int = 64
    each: int = 300
    batch: int = 1000
    entries: int = 1_000_000
    fragments: int = 2000
    turns: int = 50_000
    cleared: int = 10_000
    load: int = 10_000
    memory: int = 100_000
    revisions: int = 10_000
    moved: int = 300_000


HELP = {
    "appends": "appends of one caller, one after another",
    "callers": "callers at once",
    "each": "appends of each of them",
    "batch": "messages of one append_many",
    "entries": "entries of the large log",
    "fragments": "fragments of a cut-up view, and entries of the view in which tool results are cleared",
    "turns": "appends of two branches that take turns",
    "cleared": "turns that clear an old tool result each",
    "load": "messages of a log that is read whole, and of a history that is edited",
    "memory": "entries of the large history in memory, and of the large view that is committed to",
    "revisions": "revisions that are kept alive in memory",
    "moved": "messages of a file that is imported, searched and exported",
}
QUICK = Sizes(
    appends=200,
    each=40,
    entries=20_000,
    fragments=500,
    turns=4000,
    cleared=200,
    load=2000,
    memory=10_000,
    moved=5000,
)


class Setting:
    """A folder to work in, with the sizes and the SQLite library that msglog and plain `sqlite3` both use."""

    def __init__(self, folder: Path, sizes: Sizes, module: ModuleType = sqlite3) -> None:
        self.folder = folder
        self.sizes = sizes
        self.module: Any = module
        self._files = 0
        self.filled = cache(self._filled)

    def path(self) -> str:
        """A new file name."""
        self._files += 1
        return str(self.folder / f"{self._files}.db")

    @property
    def driver(self) -> ModuleType | None:
        """What `msglog.open` is to be told."""
        return None if self.module is sqlite3 else self.module

    @contextmanager
    def store(self, path: str | None = None, level: Level = "full") -> Iterator[msglog.sync.Store]:
        """A blocking store."""
        with msglog.sync.open(path or self.path(), durability=level, driver=self.driver) as store:
            yield store

    def opening(self, path: str | None = None, level: Level = "full") -> msglog.opening.Opening:
        """A store for tasks, to be entered."""
        return msglog.open(path or self.path(), durability=level, driver=self.driver)

    def _filled(self, entries: int) -> str:
        """A store with a log `log` of so many entries, and a branch `short` of it that shows the last 200."""
        path = self.path()
        with self.store(path, "normal") as store:
            log = store.log("log")
            for done in range(0, entries, 1000):
                log.append_many([MESSAGE] * min(1000, entries - done))
            ids = [message.entry_id for message in log.last(200)]
            short = log.fork("short")
            short.commit(short.history(last=200).with_view(ids))
        return path

    @cached_property
    def cut_up(self) -> str:
        """A store with a log `log` whose view is every other entry: so many fragments, each a span of its own."""
        path = self.path()
        with self.store(path, "normal") as store:
            log = store.log("log")
            log.append_many([MESSAGE] * (2 * self.sizes.fragments))
            history = log.history()
            log.commit(history.with_view([entry.id for entry in history.refs()[::2]]))
        return path
