"""Two ways to run one definition: operations are coroutines over an `Access`, which waits in a task or blocks.

On the blocking one nothing is ever awaited for real, so `finish` runs a coroutine to its end in one step.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

from msglog.storage.engine import Connection
from msglog.storage.file import Lease, StoreFile
from msglog.storage.job import Job
from msglog.storage.requests import Request

T = TypeVar("T")


class Access(Protocol):
    """How a store waits."""

    file: StoreFile
    read_only: bool
    blocks: bool  # the calling thread, which may be the one of tasks that others wait for

    def check(self) -> None:
        """Raise where the store can no longer be used."""
        ...

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a read on one snapshot of the file."""
        ...

    async def write(self, request: Request) -> Any:
        """Have a request committed."""
        ...

    async def run(self, work: Callable[[], T]) -> T:
        """Run something that blocks."""
        ...

    async def end(self, work: Callable[[], None]) -> None:
        """Run something that blocks, whatever becomes of its caller meanwhile."""
        ...

    async def change(self, version: int) -> None:
        """Wait until the file's bell is past a version."""
        ...


class _Leased:
    """A store's use of a file, and the seconds that it waits for others."""

    def __init__(self, lease: Lease, patience: float) -> None:
        self.file = lease.file
        self.read_only = lease.read_only
        self.check = lease.check
        self._writing = lease.writing
        self._patience = patience


class TaskAccess(_Leased):
    """For tasks: whatever blocks happens on another thread, in one hop."""

    blocks = False

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a read on one of the file's reading threads."""
        self.check()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.file.threads(), self.file.read, work, self._patience)

    async def write(self, request: Request) -> Any:
        """Queue a request and wait for the writer."""
        return await Job(request, self._patience).outcome(self._writing())

    async def run(self, work: Callable[[], T]) -> T:
        """Run something that blocks on a thread."""
        return await asyncio.to_thread(work)

    async def end(self, work: Callable[[], None]) -> None:
        """Run it on a thread. A caller that is cancelled before the thread begins does not take it back."""
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))

    async def change(self, version: int) -> None:
        """Sleep until the file's bell rings."""
        await self.file.bell.wait(version)


class BlockingAccess(_Leased):
    """For threads: reads happen here and now, writes wait for the writer."""

    blocks = True

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a read on the calling thread."""
        self.check()
        return self.file.read(work, self._patience)

    async def write(self, request: Request) -> Any:
        """Queue a request and block until the writer is done with it."""
        return Job(request, self._patience).outcome_blocking(self._writing())

    async def run(self, work: Callable[[], T]) -> T:
        """Run it here."""
        return work()

    async def end(self, work: Callable[[], None]) -> None:
        """Run it here."""
        work()

    async def change(self, version: int) -> None:
        """Block until the file's bell rings."""
        self.file.bell.wait_blocking(version)


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never really waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    coroutine.close()
    raise RuntimeError("this waits for an event loop; the blocking face takes plain functions only")


def finish_each(iterator: AsyncIterator[T]) -> Iterator[T]:
    """The items of an asynchronous iterator that never really waits."""
    try:
        while True:
            try:
                item: T = finish(iterator.__anext__())  # type: ignore[arg-type]
            except StopAsyncIteration:
                return
            yield item
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None and inspect.isasyncgen(iterator):
            finish(close())
