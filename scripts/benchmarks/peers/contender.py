"""What each contender says of itself: how one conversation of it is opened, appended to and read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias
from unittest import mock

from scripts.benchmarks.setting import Level, Setting

Message: TypeAlias = dict[str, Any]
Append: TypeAlias = Callable[[Message], Any]


@dataclass(frozen=True)
class Conversation:
    """One conversation that is open. Where a contender is asynchronous, all of these are coroutine functions."""

    append: Append
    load: Callable[[], Any]
    """Read the whole conversation as the library's own messages; returns how many there are."""
    close: Callable[[], Any]
    fill: Callable[[list[Message]], Any] | None = None
    """Append many at once, where the library offers that."""
    caller: Callable[[], Append] | None = None
    """What one more caller at the same time appends through, where that is not `append` itself."""


@dataclass(frozen=True)
class Contender:
    """A store that is measured. `open` makes a new conversation in a file or opens it again."""

    name: str
    open: Callable[[Setting, str, Level], Any]
    asynchronous: bool
    is_store: bool = True
    """Whether it is a conversation store, and no bare driver."""


@contextmanager
def connections(level: Level) -> Iterator[None]:
    """Have every connection that a library opens, by whichever way, sync as the level says.

    Only here, since most of the libraries leave no other place for it.
    """
    genuine: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(*given: Any, **options: Any) -> sqlite3.Connection:
        connection = genuine(*given, **options)
        connection.execute(f"PRAGMA synchronous = {level}")
        return connection

    with mock.patch("sqlite3.connect", connect), mock.patch("sqlite3.dbapi2.connect", connect):
        yield


def new_file(path: str) -> None:
    """An empty database in WAL mode, which it keeps whoever opens it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
