"""Wakes followers: one reader of the store's commits for all of them, so that those of quiet logs sleep on.

A follower reads its log from the disk, page by page, as fast as its client takes it, and sleeps when it is at the
end. What it holds is one page at most, and nobody waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from msglog.errors import MsgLogError, StoreClosedError
from msglog.store import Store

T = TypeVar("T")
_logger = logging.getLogger("msglog.server")

EVERY_LOG = ""
"""Stands for the whole store, where the name of a log stands: no log's name is empty."""


class Bell:
    """Rung when something was committed to a log. A sleeper notes `version`, reads, and sleeps if it is unchanged."""

    __slots__ = ("_sleepers", "followers", "gone", "version")

    def __init__(self) -> None:
        self.version = 0
        self.gone = 0  # how often the log was purged
        self.followers = 0
        self._sleepers: set[asyncio.Future[bool]] = set()

    def ring(self) -> None:
        """Wake everyone who waits."""
        self.version += 1
        sleepers, self._sleepers = self._sleepers, set()
        for sleeper in sleepers:
            _wake(sleeper, rung=True)

    async def wait(self, version: int, seconds: float) -> bool:
        """Return once the version is another than the one given, or after so many seconds; whether it was rung."""
        if self.version != version:
            return True
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[bool] = loop.create_future()
        self._sleepers.add(sleeper)
        timer = loop.call_later(seconds, lambda: _wake(sleeper, rung=False))
        try:
            return await sleeper
        finally:
            timer.cancel()
            self._sleepers.discard(sleeper)


def _wake(sleeper: asyncio.Future[bool], *, rung: bool) -> None:
    if not sleeper.done():
        sleeper.set_result(rung)


class Hub:
    """The bells of the logs that somebody follows, and the task that rings them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._bells: dict[str, Bell] = {}
        self._task: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()
        self._shared: dict[object, asyncio.Task[Any]] = {}
        self.stopping = False

    @contextlib.asynccontextmanager
    async def watch(self, log: str) -> AsyncIterator[Bell]:
        """The bell of a log. Whatever is committed from now on rings it."""
        bell = self._bells.setdefault(log, Bell())
        bell.followers += 1
        try:
            if self._task is None:
                self._listening.clear()
                self._task = asyncio.create_task(self._listen())
            await self._listening.wait()
            yield bell
        finally:
            bell.followers -= 1
            if not bell.followers:
                del self._bells[log]
            if not self._bells and self._task is not None:
                task, self._task = self._task, None
                task.cancel()

    async def share(self, key: object, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work`, done once for all who ask for the same at the same time."""
        task = self._shared.get(key)
        if task is None:
            task = self._shared[key] = asyncio.create_task(work())
            task.add_done_callback(lambda _: self._shared.pop(key, None))
        return await asyncio.shield(task)

    def purged(self, log: str) -> None:
        """Tell the followers of a log that it is gone."""
        bell = self._bells.get(log)
        if bell is not None:
            bell.gone += 1
            bell.ring()

    def stop(self) -> None:
        """Tell every follower that the service ends."""
        self.stopping = True
        for bell in self._bells.values():
            bell.ring()

    async def close(self) -> None:
        """End the task."""
        self.stop()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _listen(self) -> None:
        pause = 0.1
        while True:
            try:
                newest = await self._store.sql("SELECT coalesce(max(n), 0) AS n FROM entries")
                self._listening.set()
                for bell in self._bells.values():
                    bell.ring()  # what was missed while nobody listened
                async for logged in self._store.follow(newest[0]["n"]):
                    pause = 0.1
                    for name in (logged.log, EVERY_LOG):
                        bell_of = self._bells.get(name)
                        if bell_of is not None:
                            bell_of.ring()
            except StoreClosedError:
                return
            except MsgLogError:
                _logger.exception("the store cannot be read; trying again in %.1f s", pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 5)
