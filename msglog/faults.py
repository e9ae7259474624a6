"""Points inside a store's own steps at which a test can have the process die, raise, or wait.

```python
from msglog import faults

faults.set("commit.before", lambda: os._exit(1))
```

The action runs on whatever thread comes there, each time, until it is cleared. Nothing of this is in a store's way
while no action is set: a point is a function of msglog's, which is wrapped only then. The names are public and stay;
what they wrap does not. An action that raises in a place where nothing can fail shows what happens to a program with a
fault there, not what a failing disk does: a `driver=` of your own can fail like one.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

Action: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Point:
    """A named point: what is done there, and what not yet. It lies before or after a function of msglog's."""

    about: str
    owner: str  # a module, or a class in one: "module:Class"
    function: str
    when: Literal["before", "after"]


_WRITER = "msglog.storage.writer:Writer"
_UPKEEP = "msglog.storage.upkeep:Upkeep"
_TRANSACTION = "msglog.storage.transaction:Transaction"

POINTS: Mapping[str, Point] = MappingProxyType(
    {
        "transaction.begun": Point("a transaction has begun, nothing is written", _WRITER, "_begin", "after"),
        "commit.rows": Point(
            "entries and revisions are written, no head and no counter is moved", _TRANSACTION, "_move_heads", "before"
        ),
        "commit.before": Point("all of a group is written, not committed", _WRITER, "_commit", "before"),
        "commit.after": Point("a group is committed, its callers do not know yet", _WRITER, "_committed", "before"),
        "checkpoint.before": Point("a checkpoint is about to begin", "msglog.storage.wal", "checkpoint", "before"),
        "checkpoint.after": Point("a checkpoint is done", "msglog.storage.wal", "checkpoint", "after"),
        "rewrite.before": Point("the file is about to be written anew", _UPKEEP, "_rewrite", "before"),
        "rewrite.after": Point("the file was written anew, into the write-ahead log", _UPKEEP, "_rewrite", "after"),
        "migration.before": Point("a migration is about to begin", "msglog.storage.migrate", "_upgrade", "before"),
        "migration.tables": Point(
            "a migration changed the tables; there are no triggers", "msglog.storage.migrate", "_make_objects", "before"
        ),
        "migration.changed": Point(
            "a migration changed everything, not committed", "msglog.storage.migrate", "_make_objects", "after"
        ),
        "migration.after": Point("a migration is committed", "msglog.storage.migrate", "_upgrade", "after"),
        "backup.before": Point("a backup's file is there, empty", "msglog.storage.maintenance", "_copy", "before"),
        "backup.copied": Point(
            "a backup is copied, it has no name yet", "msglog.storage.maintenance", "_copy", "after"
        ),
        "backup.after": Point("a backup has its name", "msglog.storage.maintenance", "backup", "after"),
        "redaction.blanked": Point(
            "an entry is blanked, or a log marked as purged; not committed",
            "msglog.storage.erasure",
            "forget",
            "before",
        ),
        "erasure.committed": Point(
            "a redaction or a purge is committed; what it erased may still lie in the files",
            _UPKEEP,
            "finish_erasure",
            "before",
        ),
        "erasure.after": Point(
            "nothing of what was erased is left, nobody knows yet", _UPKEEP, "finish_erasure", "after"
        ),
        "purge.marked": Point(
            "a log is marked as purged, its rows are there", "msglog.storage.erasure", "_delete_rows", "before"
        ),
        "purge.deleted": Point(
            "a log's rows are deleted, not committed", "msglog.storage.erasure", "_delete_rows", "after"
        ),
        "repair.before": Point(
            "a repair knows what is wrong, nothing is changed", "msglog.storage.repair", "_mend", "before"
        ),
        "repair.mended": Point(
            "a repair changed what it could; not looked at again, not committed",
            "msglog.storage.repair",
            "_mend",
            "after",
        ),
    }
)
"""All points, by name. A repair passes its own twice: in the dry run before it, and when it is done."""

_actions: dict[str, Action] = {}
_originals: dict[tuple[str, str], Callable[..., Any]] = {}
_lock = threading.Lock()


def set(name: str, action: Action) -> None:  # noqa: A001 the word for it
    """Have an action run at a point, in place of the one that it has. `KeyError` where there is no such point."""
    point = POINTS[name]
    if not callable(action):
        raise TypeError(f"an action must be a function without arguments, not {type(action).__name__}")
    with _lock:
        _actions[name] = action
        _fit(point.owner, point.function)


def clear(name: str | None = None) -> None:
    """Take away a point's action, or all of them."""
    with _lock:
        for each in [name] if name is not None else list(_actions):
            point = POINTS[each]
            if _actions.pop(each, None) is not None:
                _fit(point.owner, point.function)


@contextmanager
def at(name: str, action: Action) -> Iterator[None]:
    """`set`, and `clear` at the end."""
    set(name, action)
    try:
        yield
    finally:
        clear(name)


def _fit(owner: str, function: str) -> None:
    """Wrap a function where a point of its has an action, and put it back where none has."""
    module, _, inner = owner.partition(":")
    holder: Any = importlib.import_module(module)
    if inner:
        holder = getattr(holder, inner)
    original = _originals.setdefault((owner, function), getattr(holder, function))
    here = {
        point.when: _actions[name] for name, point in POINTS.items() if name in _actions and _is(point, owner, function)
    }
    if not here:
        setattr(holder, function, _originals.pop((owner, function)))
        return

    @functools.wraps(original)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        if "before" in here:
            here["before"]()
        result = original(*arguments, **options)
        if "after" in here:
            here["after"]()
        return result

    setattr(holder, function, wrapped)


def _is(point: Point, owner: str, function: str) -> bool:
    return (point.owner, point.function) == (owner, function)


__all__ = ["POINTS", "Action", "Point", "at", "clear", "set"]
