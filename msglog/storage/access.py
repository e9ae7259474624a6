"""Two ways to run one definition: operations are coroutines over an `Access`, which waits in a task or blocks.

On the blocking one nothing is ever awaited for real, so `finish` runs a coroutine to its end in one step.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

from msglog.storage.engine import Connection
from msglog.storage.file import StoreFile
from msglog.storage.requests import Request
from msglog.storage.writer import Job

T = TypeVar("T")


class Access(Protocol):
    """How a store waits."""

    file: StoreFile
    patience: float

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a read on one snapshot of the file."""
        ...

    async def write(self, request: Request) -> Any:
        """Have a request committed."""
        ...

    async def run(self, work: Callable[[], T]) -> T:
        """Run something that blocks."""
        ...

    async def change(self, version: int) -> None:
        """Wait until the file's bell is past a version."""
        ...


class TaskAccess:
    """For tasks: whatever blocks happens on another thread, in one hop."""

    def __init__(self, file: StoreFile, patience: float) -> None:
        self.file = file
        self.patience = patience

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a read on one of the file's reading threads."""
        self.file.check()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.file.threads(), self.file.read, work, self.patience)

    async def write(self, request: Request) -> Any:
        """Queue a request and wait for the writer."""
        return await Job(request, self.patience).outcome(self.file.writing())

    async def run(self, work: Callable[[], T]) -> T:
        """Run something that blocks on a thread."""
        return await asyncio.to_thread(work)

    async def change(self, version: int) -> None:
        """Sleep until the file's bell rings."""
        await self.file.bell.wait(version)


class BlockingAccess:
    """For threads: reads happen here and now, writes wait for the writer."""

    def __init__(self, file: StoreFile, patience: float) -> None:
        self.file = file
        self.patience = patience

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a read on the calling thread."""
        return self.file.read(work, self.patience)

    async def write(self, request: Request) -> Any:
        """Queue a request and block until the writer is done with it."""
        return Job(request, self.patience).outcome_blocking(self.file.writing())

    async def run(self, work: Callable[[], T]) -> T:
        """Run it here."""
        return work()

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
