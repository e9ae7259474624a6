"""What a store does while something happens at one of its points, and whether it shows afterwards that it was done."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msglog.sync
from msglog import faults
from msglog.storage.sqlite import SqliteDriver
from msglog.sync import Store
from tests.concurrency.processes import Wire

SECRET = "the secret that is to be erased"
DIED = 77
"""The exit code of a process that died at a point."""


@dataclass(frozen=True)
class Scenario:
    """Something that a store does, and whether it was done; `passes` is how often it comes by a point before then."""

    do: Callable[[Store], object]
    done: Callable[[Store], bool]
    prepare: Callable[[Path], None] = lambda _path: None
    passes: int = 0


def begin(path: Path) -> None:
    """The store that every scenario finds."""
    with msglog.sync.open(path, durability="normal") as store:
        store.log("talk").add("user", "first", id="first")
        store.log("talk").add("user", SECRET, id="second")
        store.log("doomed").add("user", SECRET, id="doomed")


def _damage(path: Path) -> None:
    connection = SqliteDriver().connect(str(path))
    connection.execute("UPDATE logs SET entry_count = entry_count + 5 WHERE id = 2")
    connection.close()


def _backup_path(store: Store) -> Path:
    return Path(f"{store.path}.copy")


def _is_copied(store: Store) -> bool:
    copy = _backup_path(store)
    if not copy.exists():
        return False
    with msglog.sync.open(copy, read_only=True) as opened:
        assert opened.verify().ok, "a backup that has its name is whole"
        return opened.log("talk").count() == 3


def _is_compacted(store: Store) -> bool:
    return bool(store.stats().entries)  # nothing of it shows


SCENARIOS = {
    "append": Scenario(
        lambda store: store.log("talk").add("user", "new", id="new"),
        lambda store: store.log("talk").find("new") is not None,
    ),
    "compact": Scenario(lambda store: store.compact(), _is_compacted),
    "backup": Scenario(lambda store: store.backup(_backup_path(store)), _is_copied),
    "redact": Scenario(
        lambda store: store.log("talk").redact("second"), lambda store: store.log("talk").get("second").redacted
    ),
    "purge": Scenario(
        lambda store: store.purge("doomed"), lambda store: "doomed" not in [i.name for i in store.logs()]
    ),
    "repair": Scenario(
        lambda store: store.repair(dry_run=False), lambda store: store.verify().ok, prepare=_damage, passes=1
    ),
}


def counted(passes: int, action: faults.Action) -> faults.Action:
    """An action that lets a point be passed so many times first."""
    left = [passes]

    def act() -> object:
        left[0] -= 1
        return action() if left[0] < 0 else None

    return act


def die_at(wire: Wire, path: str, point: str, name: str) -> None:
    """In a process of its own: acknowledge something, then do it and die at the point."""
    scenario = SCENARIOS[name]
    with msglog.sync.open(path) as store:
        wire.say(store.log("talk").add("user", "acknowledged", id="acknowledged"))
        faults.set(point, counted(scenario.passes, lambda: os._exit(DIED)))
        scenario.do(store)
        wire.say("it came to its end")


def die_opening(_wire: Wire, path: str, point: str) -> None:
    """In a process of its own: make a store, and die at the point."""
    faults.set(point, lambda: os._exit(DIED))
    msglog.sync.open(path).close()


def raising() -> Any:
    raise RuntimeError("made to fail")
