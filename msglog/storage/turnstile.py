"""Turns between processes: a lock on a file beside the store, held for one transaction or checkpoint.

`BEGIN IMMEDIATE` is what keeps writers apart; the turnstile only spares them SQLite's long, unfair
waits, and keeps checkpoints of different processes from overlapping (the WAL-reset bug of SQLite
3.7.0 to 3.51.2, https://sqlite.org/wal.html#walresetbug). Where the system has no `flock`, it does nothing.
"""

from __future__ import annotations

import os
import random
import time
from typing import Any
from weakref import WeakSet

fcntl: Any
try:
    import fcntl
except ImportError:  # not on POSIX
    fcntl = None


LONGEST_PAUSE = 0.0005
"""Seconds between two looks at a lock that is taken. Whoever never rests leaves it free for a twentieth of a
millisecond at a time: others that looked less often would find it taken for seconds."""


class Turnstile:
    """One lock file. One thread of the process uses it at a time: the writer's."""

    def __init__(self, path: str) -> None:
        self.path = f"{path}-lock"  # not .lock, which SQLite's own dot-file locking makes a directory of
        self._descriptor: int | None = None
        _turnstiles.add(self)

    def enter(self, deadline: float) -> bool:
        """Wait for a turn until `deadline` (of `time.monotonic`); whether it came."""
        if fcntl is None:
            return True
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        pause = 0.0001
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
            else:
                return True
            time.sleep(pause * (0.5 + random.random()))  # noqa: S311 jitter
            pause = min(pause * 1.5, LONGEST_PAUSE)

    def leave(self) -> None:
        """Let the next one through."""
        if fcntl is not None and self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the lock file; it stays beside the store."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_turnstiles: WeakSet[Turnstile] = WeakSet()


def _close_inherited() -> None:
    """In a child: a lock lasts as long as any copy of its descriptor, so ours would outlive the parent."""
    for turnstile in list(_turnstiles):
        turnstile.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)
