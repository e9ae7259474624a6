"""Attack 8: nothing piles up, however many logs are opened and dropped, and however long somebody follows."""

from __future__ import annotations

import asyncio
import gc
import os
import weakref
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from random import Random
from typing import Any, cast

import msglog
from msglog import MessageLog
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, append_numbered, page_until_told, user
from tests.conftest import open_files

MB = 2**20


async def many_logs(folder: Path, count: int) -> Counter[str]:
    """Open, write, read, follow and drop logs: what stays is the file's, not the logs'."""
    async with msglog.open(folder / "agent.db", durability="normal") as store:
        alive: weakref.WeakSet[MessageLog] = weakref.WeakSet()
        await _use(store.log("first"))
        start = len(open_files())
        for number in range(count):
            log = store.log(f"log {number}")
            alive.add(log)
            await log.append(user("x"))
            if number % 50 == 0:
                await _use(log)
        del log
        gc.collect()
        assert len(alive) == 0, "a log that was dropped is kept"
        assert len(store._access.file.writer._ledger.logs) < 1300, "what is known of logs is bounded"
        assert len(open_files()) <= start + 4, "descriptors grow with the logs"
        assert len(await store.logs()) == count + 1
    return Counter(logs=count)


async def _use(log: MessageLog) -> None:
    await log.append(user("y"))
    await log.all()
    async with aclosing(cast("Any", log.follow())) as messages:
        await anext(messages)


async def long_follower(folder: Path, seed: int, entries: int) -> Counter[str]:
    """Two processes write, one pages, and here somebody follows: the log stays bounded, nothing is missed."""
    path, random = folder / "agent.db", Random(seed)
    async with msglog.open(path, durability="normal") as store:
        await store.log(LOG).append(user("first"))
        sizes = [random.choice([1_000, 30_000]) for _ in range(2)]
        writers = [Process(append_numbered, str(path), f"w{i}", entries // 2, size) for i, size in enumerate(sizes)]
        reader = Process(page_until_told, str(path))
        largest = seen = 0
        threads = len(os.listdir("/proc/self/task"))
        try:
            for process in (*writers, reader):
                process.go()
            async with aclosing(cast("Any", store.log(LOG).raw.follow())) as messages:
                async for message in messages:
                    seen += 1
                    assert message.seq == seen
                    if seen % 20 == 0:
                        largest = max(largest, os.stat(f"{path}-wal").st_size)
                    if seen == 1 + 2 * (entries // 2):
                        break
            for writer in writers:
                await asyncio.to_thread(writer.result)
            reader.tell("enough")
            assert await asyncio.to_thread(reader.result) > 0
        finally:
            for process in (*writers, reader):
                process.kill()
        assert largest < 40 * MB, f"the write-ahead log grew to {largest:,} bytes"
        assert len(os.listdir("/proc/self/task")) <= threads + 8
    return Counter({"entries followed": seen, "written, in MB": entries // 2 * sum(sizes) // MB})
