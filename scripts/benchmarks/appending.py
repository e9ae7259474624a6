"""Appending: one caller, many callers at once, batches; asynchronous and blocking."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from msglog import MessageLog
from scripts.benchmarks import plain
from scripts.benchmarks.measure import Figures, Group, Row, at_least, at_most, latencies, seconds
from scripts.benchmarks.setting import Level, Setting
from scripts.benchmarks.workload import MESSAGE


def one_caller(setting: Setting, level: Level) -> Figures:
    """One append after another, awaited."""

    async def run() -> Figures:
        count = setting.sizes.appends
        async with setting.opening(level=level) as store:
            log = store.log("log")
            await log.append(MESSAGE)
            started = time.perf_counter()
            for _ in range(count):
                await log.append(MESSAGE)
            taken = time.perf_counter() - started
            return {"seconds": taken / count, "rate": count / taken}

    return asyncio.run(run())


def one_blocking_caller(setting: Setting, level: Level) -> Figures:
    """One append after another, on the blocking face."""
    count = setting.sizes.appends
    with setting.store(level=level) as store:
        log = store.log("log")
        log.append(MESSAGE)
        started = time.perf_counter()
        for _ in range(count):
            log.append(MESSAGE)
        taken = time.perf_counter() - started
        return {"seconds": taken / count, "rate": count / taken}


def many_callers(setting: Setting, level: Level, *, logs: int) -> Figures:
    """Tasks that append at once, each one message after another, to one log or to several."""

    async def run() -> Figures:
        callers, each = setting.sizes.callers, setting.sizes.each
        taken: list[float] = []

        async def caller(log: MessageLog) -> None:
            before = time.perf_counter()
            for _ in range(each):
                await log.append(MESSAGE)
                now = time.perf_counter()
                taken.append(now - before)
                before = now

        async with setting.opening(level=level) as store:
            used = [store.log(f"log {i % logs}") for i in range(callers)]
            await asyncio.gather(*(log.append(MESSAGE) for log in used))
            started = time.perf_counter()
            await asyncio.gather(*map(caller, used))
            return latencies(taken, time.perf_counter() - started)

    return asyncio.run(run())


def many_threads(setting: Setting, level: Level) -> Figures:
    """Threads that append at once on the blocking face, each one message after another."""
    callers, each = setting.sizes.callers, setting.sizes.each
    with setting.store(level=level) as store, ThreadPoolExecutor(callers) as threads:
        log = store.log("log")

        def caller(_: int) -> list[float]:
            taken = []
            for _ in range(each):
                before = time.perf_counter()
                log.append(MESSAGE)
                taken.append(time.perf_counter() - before)
            return taken

        log.append(MESSAGE)
        started = time.perf_counter()
        taken = [one for taken in threads.map(caller, range(callers)) for one in taken]
        return latencies(taken, time.perf_counter() - started)


def batch(setting: Setting) -> Figures:
    """One `append_many`; seconds a message."""
    size = setting.sizes.batch
    with setting.store() as store:
        log = store.log("log")
        log.append(MESSAGE)
        return seconds(lambda: log.append_many([MESSAGE] * size), per=size)


def groups(setting: Setting) -> Iterator[Group]:
    """Points 1, 2, 3 and 11."""
    callers, size = setting.sizes.callers, setting.sizes.batch
    one_log, logs = f"{callers} callers on one log", f"{callers} callers on {callers} logs"
    yield Group(
        {
            "plain sqlite3, full": lambda: plain.same_statements(setting, "full"),
            "plain sqlite3, one INSERT, full": lambda: plain.one_insert(setting, "full"),
            "one caller, full": lambda: one_caller(setting, "full"),
            "one blocking caller, full": lambda: one_blocking_caller(setting, "full"),
            one_log: lambda: many_callers(setting, "full", logs=1),
            logs: lambda: many_callers(setting, "full", logs=callers),
            f"{callers} threads": lambda: many_threads(setting, "full"),
        },
        [
            Row(1, "one caller, full / plain sqlite3", "one caller, full", "plain sqlite3, full", bound=at_most(2)),
            Row(1, "one caller, full / one INSERT", "one caller, full", "plain sqlite3, one INSERT, full"),
            Row(2, f"{one_log}, full / one plain sqlite3", one_log, "plain sqlite3, full", "rate", at_least(4)),
            Row(2, f"{one_log}, full, a second", one_log, figure="rate", bound=at_least(20_000)),
            Row(2, f"{one_log}, full, p50 ms", one_log, figure="p50"),
            Row(2, f"{one_log}, full, p99 ms", one_log, figure="p99", bound=at_most(10)),
            Row(2, f"{one_log}, full, worst ms", one_log, figure="worst"),
            Row(2, f"{logs}, full / one plain sqlite3", logs, "plain sqlite3, full", "rate", at_least(4)),
            Row(2, f"{logs}, full, a second", logs, figure="rate", bound=at_least(20_000)),
            Row(2, f"{logs}, full, p50 ms", logs, figure="p50"),
            Row(2, f"{logs}, full, p99 ms", logs, figure="p99", bound=at_most(10)),
            Row(2, f"{logs}, full, worst ms", logs, figure="worst"),
            Row(2, f"{callers} threads, full, a second", f"{callers} threads", figure="rate"),
            Row(2, f"{callers} threads, full, p99 ms", f"{callers} threads", figure="p99"),
            Row(
                11,
                "blocking / async, one caller, full",
                "one blocking caller, full",
                "one caller, full",
                bound=at_most(1),
            ),
        ],
    )
    yield Group(
        {
            "plain sqlite3, normal": lambda: plain.same_statements(setting, "normal"),
            "plain sqlite3, one INSERT, normal": lambda: plain.one_insert(setting, "normal"),
            "one caller, normal": lambda: one_caller(setting, "normal"),
            "one blocking caller, normal": lambda: one_blocking_caller(setting, "normal"),
        },
        [
            Row(
                1, "one caller, normal / plain sqlite3", "one caller, normal", "plain sqlite3, normal", bound=at_most(5)
            ),
            Row(1, "one caller, normal / one INSERT", "one caller, normal", "plain sqlite3, one INSERT, normal"),
            Row(
                11,
                "blocking / async, one caller, normal",
                "one blocking caller, normal",
                "one caller, normal",
                bound=at_most(1),
            ),
        ],
    )
    yield Group(
        {"executemany": lambda: plain.batch(setting), "append_many": lambda: batch(setting)},
        [Row(3, f"append_many({size:,}) / executemany", "append_many", "executemany", bound=at_most(2.5))],
    )
