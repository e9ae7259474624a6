"""A request in the writer's queue, and whoever waits for its answer."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterable
from typing import Any, Protocol

from msglog.storage.requests import Appended, Committed, Receive, Request


class Queue(Protocol):
    """Where jobs wait: the writer."""

    def submit(self, job: Job) -> None:
        """Put a job in the queue, or carry it out at once."""
        ...

    def withdraw(self, job: Job) -> None:
        """Take a job back, if it was not taken yet."""
        ...


class Job:
    """A request in the queue, and whoever waits for it: a task of an event loop, or a thread."""

    __slots__ = ("deadline", "error", "event", "future", "queued", "request", "result", "taken")

    def __init__(self, request: Request, patience: float) -> None:
        self.request = request
        self.queued = time.monotonic()
        self.deadline = self.queued + patience
        self.result: Any = None
        self.error: BaseException | None = None
        self.taken = False
        self.future: asyncio.Future[None] | None = None
        self.event: threading.Lock | None = None

    async def outcome(self, queue: Queue) -> Any:
        """Queue the request and wait for it in a task. A cancelled task takes it back if it still can."""
        self.future = future = asyncio.get_running_loop().create_future()
        queue.submit(self)
        try:
            await future
        except asyncio.CancelledError:
            queue.withdraw(self)
            raise
        return self._answer()

    def outcome_blocking(self, queue: Queue) -> Any:
        """Queue the request and wait for it in a thread."""
        self.event = threading.Lock()
        self.event.acquire()  # released by the writer: a bare lock wakes a thread sooner than an Event
        try:
            queue.submit(self)
            self.event.acquire()
        except BaseException:
            queue.withdraw(self)
            raise
        return self._answer()

    def _answer(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result

    def entry_ids(self) -> list[str]:
        """The ids of the entries that it brought in, or was to."""
        if isinstance(self.result, (Appended, Committed)):
            return [draft.entry.id for draft, _ in self.result.new]
        return [row[1] for row in self.request.entries] if isinstance(self.request, Receive) else []

    @staticmethod
    def wake(jobs: Iterable[Job]) -> None:
        """Wake whoever waits for these jobs; one call for each event loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
        for job in jobs:
            if job.event is not None:
                job.event.release()
            elif job.future is not None:
                by_loop.setdefault(job.future.get_loop(), []).append(job.future)
        for loop, futures in by_loop.items():
            # A loop that was closed meanwhile has nobody left to wake.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, futures)


def _settle(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
