"""What is measured of a contender: one caller, many callers at once, an old conversation, loading, the disk.

Blocking contenders get threads where asynchronous ones get tasks. What was acknowledged is counted afterwards:
a contender that is fast because it loses messages is told from one that is fast.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import statistics
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from scripts.benchmarks.measure import Figures
from scripts.benchmarks.peers.contender import Append, Contender, Conversation, connections, new_file
from scripts.benchmarks.setting import Level, Setting
from scripts.benchmarks.workload import JSON_BYTES, MESSAGE

PATIENCE = 5.0
"""Seconds after which no further append of a measurement begins: some contenders would take minutes."""
YOUNG = 10
PROBES = 30


async def settled(value: Any) -> Any:
    """A value, waited for where it has to be."""
    return await value if inspect.isawaitable(value) else value


@asynccontextmanager
async def opened(contender: Contender, setting: Setting, path: str, level: Level) -> AsyncIterator[Conversation]:
    """A conversation of the contender in a file."""
    conversation: Conversation = await settled(contender.open(setting, path, level))
    try:
        yield conversation
    finally:
        await settled(conversation.close())


def one_caller(contender: Contender, setting: Setting, level: Level) -> Figures:
    """Appends one after another, and what they take on disk."""
    path = setting.path()
    new_file(path)

    async def run() -> Figures:
        async with opened(contender, setting, path, level) as conversation:
            await settled(conversation.append(MESSAGE))
            count, started = 0, time.perf_counter()
            while count < setting.sizes.appends and time.perf_counter() - started < PATIENCE:
                await settled(conversation.append(MESSAGE))
                count += 1
            taken = time.perf_counter() - started
            found = await settled(conversation.load())
        return {"rate": count / taken, "lost": count + 1 - found, "disk": _size(path) / ((count + 1) * JSON_BYTES)}

    with connections(level):
        return asyncio.run(run())


def _size(path: str) -> int:
    """Bytes of a database that was closed, with what its library left in the write-ahead log."""
    return sum(os.stat(name).st_size for name in (path, f"{path}-wal") if os.path.exists(name))


@dataclass
class Tally:
    """What many callers came to."""

    end: float
    taken: list[float] = field(default_factory=list)
    refused: int = 0


def many_callers(contender: Contender, setting: Setting) -> Figures:
    """Callers that append to one conversation at once."""
    path = setting.path()
    new_file(path)

    async def run() -> Figures:
        async with opened(contender, setting, path, "full") as conversation:
            await settled(conversation.append(MESSAGE))
            started = time.perf_counter()
            tally = Tally(started + PATIENCE)
            work = _tasks if contender.asynchronous else _threads
            await work(conversation, setting, tally)
            wall = time.perf_counter() - started
            found = await settled(conversation.load())
        return {
            "rate": len(tally.taken) / wall,
            "worst": 1e3 * max(tally.taken, default=0.0),
            "refused": tally.refused,
            "lost": len(tally.taken) + 1 - found,
        }

    with connections("full"):
        return asyncio.run(run())


async def _tasks(conversation: Conversation, setting: Setting, tally: Tally) -> None:
    async def caller() -> None:
        append = conversation.append if conversation.caller is None else conversation.caller()
        for _ in range(setting.sizes.each):
            before = time.perf_counter()
            if before > tally.end:
                return
            try:
                await append(MESSAGE)
            except Exception:  # noqa: BLE001 whatever it raises, the message was refused
                tally.refused += 1
            else:
                tally.taken.append(time.perf_counter() - before)

    await asyncio.gather(*(caller() for _ in range(setting.sizes.callers)))


async def _threads(conversation: Conversation, setting: Setting, tally: Tally) -> None:
    def caller() -> tuple[list[float], int]:
        append: Append = conversation.append if conversation.caller is None else conversation.caller()
        taken: list[float] = []
        refused = 0
        for _ in range(setting.sizes.each):
            before = time.perf_counter()
            if before > tally.end:
                break
            try:
                append(MESSAGE)
            except Exception:  # noqa: BLE001 as above
                refused += 1
            else:
                taken.append(time.perf_counter() - before)
        return taken, refused

    with ThreadPoolExecutor(setting.sizes.callers) as threads:
        for future in [threads.submit(caller) for _ in range(setting.sizes.callers)]:
            taken, refused = future.result()
            tally.taken += taken
            tally.refused += refused


def aged(contender: Contender, setting: Setting) -> Figures:
    """An append to an old conversation against one to a young one, and the loading of the old one."""

    async def filled(count: int) -> str:
        path = setting.path()
        new_file(path)
        async with opened(contender, setting, path, "normal") as conversation:
            if conversation.fill is None:
                for _ in range(count):
                    await settled(conversation.append(MESSAGE))
            else:
                for done in range(0, count, 1000):
                    await settled(conversation.fill([MESSAGE] * min(1000, count - done)))
        return path

    async def appended(path: str, count: int) -> tuple[float, float]:
        async with opened(contender, setting, path, "full") as conversation:
            started = time.perf_counter()
            found = await settled(conversation.load())
            loading = time.perf_counter() - started
            if found != count:
                raise RuntimeError(f"{found} of {count} messages were stored")
            taken: list[float] = []
            while len(taken) < PROBES and time.perf_counter() - started < PATIENCE:
                before = time.perf_counter()
                await settled(conversation.append(MESSAGE))
                taken.append(time.perf_counter() - before)
        return statistics.median(taken), loading

    async def run() -> Figures:
        old = setting.sizes.load
        with connections("normal"):
            short, long = await filled(YOUNG), await filled(old)
        with connections("full"):
            young, _ = await appended(short, YOUNG)
            late, loading = await appended(long, old)
        return {"ageing": late / young, "load": 1e3 * loading}

    return asyncio.run(run())


def everything(contender: Contender, setting: Setting) -> Figures:
    """One round of a contender. Whatever the library raises is raised."""
    full = one_caller(contender, setting, "full")
    normal = one_caller(contender, setting, "normal")
    callers = many_callers(contender, setting)
    return {
        "full": full["rate"],
        "normal": normal["rate"],
        "disk": full["disk"],
        "callers": callers["rate"],
        "worst": callers["worst"],
        "refused": callers["refused"],
        "lost": full["lost"] + normal["lost"] + callers["lost"],
        **aged(contender, setting),
    }
