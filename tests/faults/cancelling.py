"""Attack 9: every public coroutine method is cancelled at every await that it comes to.

Whatever was cancelled is done or not done, the store goes on, and nothing is left open.
"""

from __future__ import annotations

import asyncio
import inspect
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msglog
from msglog import MessageLog, Store
from msglog.raw import RawLog
from msglog.storage import file as files
from tests.faults.world import seen
from tests.strategies import user

FACES: dict[str, type] = {"Store": Store, "MessageLog": MessageLog, "RawLog": RawLog}

NEW = {"id": "new", "message": user("new")}


def public_methods() -> list[tuple[str, str]]:
    """All that may be awaited or iterated on a store and its logs: face and name."""
    return [
        (face, name)
        for face, kind in FACES.items()
        for name, member in vars(kind).items()
        if not name.startswith("_")
        and (inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member) or _gives_iterator(member))
    ]


def _gives_iterator(member: Any) -> bool:
    return inspect.isfunction(member) and "AsyncIterator" in str(inspect.signature(member).return_annotation)


ARGUMENTS: dict[str, Any] = {
    "key": "first",
    "entry_id": "first",
    "entry": "first",
    "query": "SELECT count(*) AS n FROM entries",
    "words": "second",
    "role": "user",
    "message": NEW,
    "messages": [NEW, {"id": "newer", "message": user("newer")}],
    "patches": {"op": "replace", "id": "first", "entries": [NEW]},
}
"""What required parameters are given, by their names; what depends on the store is added to them."""


class Cancelled:
    """Awaits something in the current task, and cancels the task when it suspends for the n-th time (from 0)."""

    def __init__(self, inner: Awaitable[Any], at: int) -> None:
        self._inner = inner
        self._left = at
        self.reached = False

    def __await__(self) -> Generator[Any, Any, Any]:
        running: Iterator[Any] = self._inner.__await__()
        step: Callable[[], Any] = lambda: next(running)  # noqa: E731 what the next step is changes
        while True:
            try:
                waited_for = step()
            except StopIteration as stop:
                return stop.value
            if self._left == 0:
                self.reached = True
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            self._left -= 1
            try:
                value = yield waited_for
            except BaseException as error:  # noqa: BLE001 it goes on to what is awaited
                step = lambda error=error: running.throw(error)  # type: ignore[attr-defined, misc]  # noqa: E731
            else:
                step = lambda value=value: running.send(value)  # type: ignore[attr-defined, misc]  # noqa: E731


class Trial:
    """A store of its own, on which one method is called."""

    def __init__(self, base: Path, folder: Path) -> None:
        self.path = folder / "agent.db"
        for left in folder.glob("agent.db*"):
            left.unlink()
        shutil.copy(base, self.path)
        self._copies = folder

    async def call(self, face: str, name: str, at: int | None) -> tuple[bool, dict[str, Any]]:
        """Whether the call came to its n-th await, and what a fresh look at the store shows afterwards."""
        loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor()
        loop.set_default_executor(threads)
        store = await msglog.open(self.path, durability="normal")
        try:
            awaited = Cancelled(await self._made(store, face, name), -1 if at is None else at)
            with suppress(asyncio.CancelledError):
                await asyncio.create_task(_waited(awaited))
            if not store._closed:
                assert await store.log("other").append(user("goes on"), id="goes on") == 2
                await store.log("other").all()
        finally:
            await store.close()
        threads.shutdown()  # whatever was cancelled may still be at work there: it comes to its end
        loop.set_default_executor(ThreadPoolExecutor())
        await _let_go()
        async with msglog.open(self.path, durability="normal") as again:
            report = await again.verify()
            assert report.ok, report.problems
            if face == "Store" and name == "close":
                await again.log("other").append(user("goes on"), id="goes on")
            return awaited.reached, await seen(again)

    async def _made(self, store: Store, face: str, name: str) -> Awaitable[Any]:
        log = store.log("talk", on_append=_told)
        on = {"Store": store, "MessageLog": log, "RawLog": log.raw}[face]
        history = await log.history()
        given = ARGUMENTS | {
            "path": self._copies / "agent.db-copy",
            "history": history.append(NEW),
            "revision": [revision.id async for revision in log.revisions()][1],
            "name": "talk" if face == "Store" else "new branch",
        }
        method = getattr(on, name)
        arguments, options = [], {}
        for parameter in inspect.signature(method).parameters.values():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                arguments.append(given[parameter.name])
            elif parameter.name == "id":
                options["id"] = "new"  # so that the same call makes the same entry
            elif parameter.default is inspect.Parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
                arguments.append(given[parameter.name])
        result: Any = method(*arguments, **options)
        return _first_two(result) if isinstance(result, AsyncIterator) else result


async def _waited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _told(_message: Any) -> None:
    await asyncio.sleep(0)


async def _first_two(iterator: AsyncIterator[Any]) -> None:
    """An iteration that ends early, as most do."""
    try:
        await anext(iterator)
        await anext(iterator)
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()


async def _let_go() -> None:
    """The last store of a file lets go of it."""
    async with asyncio.timeout(30):
        while files._files:  # noqa: ASYNC110 there is nothing that would ring
            await asyncio.sleep(0.001)


async def _begin(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log("talk")
        await log.append_many([{"id": entry_id, "message": user(entry_id)} for entry_id in ("first", "second")])
        await log.append(user("third"), id="third")
        await store.log("other").append(user("other"), id="other")


async def cancel_everywhere(folder: Path, methods: list[tuple[str, str]]) -> Counter[str]:
    """Cancel each method at its first await, its second, …, until it comes to its end."""
    figures: Counter[str] = Counter()
    base = folder / "base.db"
    await _begin(base)
    for face, name in methods:
        _, after = await Trial(base, folder).call(face, name, None)
        before = await _untouched(base, folder)
        for at in range(100):
            reached, shown = await Trial(base, folder).call(face, name, at)
            assert shown in (before, after), f"{face}.{name}, cancelled at await {at}: {shown}"
            if not reached:
                break
            figures["awaits"] += 1
            figures["done all the same"] += shown == after != before
        figures["methods"] += 1
    return figures


async def _untouched(base: Path, folder: Path) -> dict[str, Any]:
    trial = Trial(base, folder)
    async with msglog.open(trial.path, durability="normal") as store:
        await store.log("other").append(user("goes on"), id="goes on")
        return await seen(store)


async def cancel_at_random(folder: Path, seed: int, rounds: int) -> Counter[str]:
    """Callers that are cancelled at any moment, many at once; each of them did what it came to do, or did not."""
    random, figures = Random(seed), Counter[str]()
    async with msglog.open(folder / "random.db", durability="normal") as store:
        log = store.log("talk")
        await log.append(user("first"), id="first")
        for turn in range(rounds):
            ids = [f"{turn}-{i}" for i in range(random.choice([1, 5, 20]))]
            tasks = [asyncio.create_task(log.append(user(entry_id), id=entry_id)) for entry_id in ids]
            for _ in range(random.randrange(8)):
                await asyncio.sleep(0)
            gone = random.sample(tasks, random.randrange(len(tasks) + 1))
            for task in gone:
                task.cancel()
            told = await asyncio.gather(*tasks, return_exceptions=True)
            stored = {message.entry_id: message.seq for message in await log.raw.all()}
            for entry_id, answer in zip(ids, told, strict=True):
                figures["cancelled"] += isinstance(answer, asyncio.CancelledError)
                assert isinstance(answer, asyncio.CancelledError) or stored[entry_id] == answer
                seq = await log.append(user(entry_id), id=entry_id)
                assert seq == stored.get(entry_id, seq), "sent again, it is recognised"
        assert [message.seq for message in await log.raw.all()] == list(range(1, await log.count() + 1))
        assert (await store.verify()).ok
    return figures
