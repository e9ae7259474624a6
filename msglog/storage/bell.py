"""A counter of changes that followers wait on: in tasks of any event loop, and in threads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable


class Bell:
    """Rung whenever something may have been committed.

    A follower notes `version`, reads, and sleeps only if the version is still the same afterwards, so it
    sleeps through nothing.
    """

    def __init__(self) -> None:
        self.version = 0
        self._changed = threading.Condition()
        self._sleepers: set[Callable[[], None]] = set()

    def ring(self) -> None:
        """Wake everyone who waits."""
        with self._changed:
            self.version += 1
            sleepers, self._sleepers = self._sleepers, set()
            self._changed.notify_all()
        for wake in sleepers:
            wake()

    async def wait(self, version: int) -> None:
        """Return once the version is another than the one given."""
        loop = asyncio.get_running_loop()
        woken = loop.create_future()

        def settle() -> None:
            if not woken.done():
                woken.set_result(None)

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed, and its follower with it
                loop.call_soon_threadsafe(settle)

        with self._changed:
            if self.version != version:
                return
            self._sleepers.add(wake)
        try:
            await woken
        finally:
            with self._changed:
                self._sleepers.discard(wake)

    def wait_blocking(self, version: int, timeout: float | None = None) -> bool:
        """Return once the version is another than the one given; False where the timeout came first."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while self.version == version:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
        return True
