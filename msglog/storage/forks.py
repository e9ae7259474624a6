"""Forks of a process that has files open.

SQLite keeps its locks twice: the system holds them for the process, and the library notes in memory what
it holds. A child inherits the notes without the locks. It would wait for ever for what a thread of its
parent held at that moment, and rely on locks that it does not have. So a fork waits until no thread is
inside the library and nothing is being written, and a child closes what it inherited before it opens a
file of its own. (Of children that closed connections without that wait, 85 of 150 hung.)
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol
from weakref import WeakSet

from msglog.errors import ForkedError

PATIENCE = 5.0
"""Seconds that a fork waits. Then it goes on, and its child can open no file."""


class Forkable(Protocol):
    """A connection as a fork sees it."""

    lock: threading.Lock
    """Held while a thread is inside the library with the connection."""

    @property
    def writing(self) -> bool:
        """Whether it is in a transaction that may write."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class _Forks:
    """The connections of this process, and what a fork does to them."""

    def __init__(self) -> None:
        self.changing = threading.Lock()
        self.connections: WeakSet[Forkable] = WeakSet()
        self.inherited: list[Forkable] = []
        self.closable = True
        self._quiet = True
        self._turn = threading.Lock()
        self._held = ExitStack()

    def before(self) -> None:
        """Keep every thread out of the library, at a moment when nothing is being written."""
        self._turn.acquire()  # two threads may fork at once
        deadline = time.monotonic() + PATIENCE
        while not (self._hold(deadline) and not any(connection.writing for connection in self.connections)):
            self._held.close()
            if time.monotonic() >= deadline:
                self._quiet = False
                return
            time.sleep(0.0002)

    def _hold(self, deadline: float) -> bool:
        return self._take(self.changing, deadline) and all(
            self._take(connection.lock, deadline) for connection in self.connections
        )

    def _take(self, lock: threading.Lock, deadline: float) -> bool:
        taken = lock.acquire(timeout=max(0.0, deadline - time.monotonic()))
        if taken:
            self._held.callback(lock.release)
        return taken

    def after_in_parent(self) -> None:
        """Let the threads go on."""
        self._held.close()
        self._quiet = True
        self._turn.release()

    def after_in_child(self) -> None:
        """Keep what was inherited: it is closed when it has to be."""
        self._held.close()
        self.changing = threading.Lock()  # of a fork that did not wait long enough, somebody may hold it
        self.inherited += self.connections
        self.connections = WeakSet()
        self.closable, self._quiet = self.closable and self._quiet, True
        self._turn.release()


_forks = _Forks()


@contextmanager
def changing() -> Iterator[WeakSet[Forkable]]:
    """The open connections, to add one that is made meanwhile or to take one out."""
    with _forks.changing:
        yield _forks.connections


def let_go(path: str) -> None:
    """In a child, before it opens a file: close the parent's connections. `ForkedError` where that is not safe."""
    if not _forks.closable:
        raise ForkedError(path)
    while _forks.inherited:
        _forks.inherited.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_forks.before, after_in_parent=_forks.after_in_parent, after_in_child=_forks.after_in_child
    )
