"""Benchmarks: msglog beside plain `sqlite3` that runs the same statements, in interleaved rounds.

Each figure is the median over the rounds; ratios are medians of the ratios of one round, so that they hold
where the machine's speed drifts. Nothing here is asserted: bounds are printed beside what was measured.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msglog
import msglog.sync
from msglog.storage import statements as sql

TEXT = "The quick brown fox jumps over the lazy dog. " * 10  # with its JSON, a message of about 500 bytes
MESSAGE: dict[str, Any] = {"role": "user", "content": TEXT}
JSON_BYTES = len(json.dumps(MESSAGE))


@dataclass
class Row:
    """A line of the report: a ratio (or a plain figure), its spread over the rounds, and the bound it has."""

    what: str
    figure: float
    low: float
    high: float
    bound: str
    detail: str


class Bench:
    """The sizes, and a folder to work in."""

    def __init__(self, folder: Path, *, quick: bool, rounds: int, entries: int) -> None:
        self.folder = folder
        self.rounds = rounds
        self.appends = 300 if quick else 1500
        self.entries = entries
        self.rows: list[Row] = []
        self._files = 0

    def path(self) -> str:
        """A new file name."""
        self._files += 1
        return str(self.folder / f"{self._files}.db")

    def compare(self, what: str, bound: str, of: Callable[[], float], to: Callable[[], float], unit: str) -> None:
        """The ratio of two measurements, taken in turns."""
        print(f"  {what} …", file=sys.stderr, flush=True)
        pairs = [(of(), to()) for _ in range(self.rounds)]
        ratios = [a / b for a, b in pairs]
        mine, other = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        detail = f"{mine:,.4g} {unit} against {other:,.4g}"
        self.rows.append(Row(what, statistics.median(ratios), min(ratios), max(ratios), bound, detail))

    def note(self, what: str, bound: str, values: list[float], detail: str = "") -> None:
        """A figure of its own."""
        self.rows.append(Row(what, statistics.median(values), min(values), max(values), bound, detail))


# What plain sqlite3 does, with the statements and triggers of a store


def plain(path: str, level: str) -> sqlite3.Connection:
    """A connection to a new store with one empty log."""
    msglog.sync.open(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {level}")
    zero = bytes(16)
    connection.execute(sql.INSERT_LOG, (zero, "log", 0, 0, 1, zero)).fetchall()
    connection.execute(sql.INSERT_REVISION, (1, 0, "r0", None, "main", None, None, 0, "[]", "[]", 0, 0, None, 0, zero))
    connection.execute(sql.INSERT_BRANCH, (1, "main", 0, None, 0))
    return connection


def entry_row(seq: int) -> tuple[Any, ...]:
    """A row of entries."""
    hashed = bytes(16)
    content = ("turn", "user", None, TEXT, None, None, None, None, None, None)
    return (seq, 1, seq, f"{seq:016d}", seq, *content, seq, hashed, hashed, hashed, None, None)


def plain_appends(bench: Bench, level: str) -> float:
    """Seconds an append: one transaction of the same statements each."""
    connection = plain(bench.path(), level)
    started = time.perf_counter()
    for seq in range(1, bench.appends + 1):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(sql.INSERT_ENTRY, entry_row(seq))
        revision = (1, seq, f"{seq:016d}", None, "main", seq - 1, None, 0, None, f"[[0,1,{seq}]]", seq, seq, None, seq)
        connection.execute(sql.INSERT_REVISION, (*revision, bytes(16)))
        connection.execute(sql.UPDATE_LOG, (seq, seq + 1, bytes(16), 1))
        connection.execute(sql.UPDATE_BRANCH, (seq, 1, "main"))
        connection.execute("COMMIT")
    taken = time.perf_counter() - started
    connection.close()
    return taken / bench.appends


def plain_batch(bench: Bench, size: int) -> float:
    """Seconds a message: `executemany` of a batch, with the JSON of each message encoded."""
    connection = plain(bench.path(), "FULL")
    started = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    rows = []
    for seq in range(1, size + 1):
        json.dumps(MESSAGE)
        rows.append(entry_row(seq))
    connection.executemany(sql.INSERT_ENTRY, rows)
    connection.execute("COMMIT")
    taken = time.perf_counter() - started
    connection.close()
    return taken / size


# What msglog does


def appends(bench: Bench, level: Any, callers: int = 1) -> float:
    """Seconds an append, by so many tasks at once."""

    async def run() -> float:
        each = bench.appends if callers == 1 else max(20, bench.appends * 8 // callers)
        async with msglog.open(bench.path(), durability=level) as store:
            log = store.log("log")
            await log.append(MESSAGE)

            async def caller() -> None:
                for _ in range(each):
                    await log.append(MESSAGE)

            started = time.perf_counter()
            await asyncio.gather(*(caller() for _ in range(callers)))
            return (time.perf_counter() - started) / (each * callers)

    return asyncio.run(run())


def blocking_appends(bench: Bench) -> float:
    """Seconds an append on the blocking face."""
    with msglog.sync.open(bench.path()) as store:
        log = store.log("log")
        log.append(MESSAGE)
        started = time.perf_counter()
        for _ in range(bench.appends):
            log.append(MESSAGE)
        return (time.perf_counter() - started) / bench.appends


def batch(bench: Bench, size: int) -> float:
    """Seconds a message of one `append_many`."""
    with msglog.sync.open(bench.path()) as store:
        log = store.log("log")
        log.append(MESSAGE)
        started = time.perf_counter()
        log.append_many([MESSAGE] * size)
        return (time.perf_counter() - started) / size


def filled(bench: Bench, entries: int) -> str:
    """A store with a log of so many entries, and a branch of it that shows the last 200."""
    path = bench.path()
    with msglog.sync.open(path, durability="normal") as store:
        log = store.log("log")
        for _ in range(entries // 1000):
            log.append_many([MESSAGE] * 1000)
        ids = [message.entry_id for message in log.last(200)]
        short = log.fork("short")
        short.commit(short.history(last=200).with_view(ids))
    return path


def best_of(work: Callable[[], Any], times: int) -> float:
    """The median seconds of a call."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def resume(path: str) -> float:
    """Seconds to open a store and load a history whose view has 200 entries."""

    def work() -> None:
        with msglog.sync.open(path) as store:
            store.log("log", "short").history()

    return best_of(work, 5)


def appends_to(path: str) -> float:
    """Seconds an append to a log that is there."""
    with msglog.sync.open(path) as store:
        log = store.log("log")
        return best_of(lambda: log.append(MESSAGE), 200)


def last_fifty(path: str) -> float:
    """Seconds of `last(50)`."""
    with msglog.sync.open(path) as store:
        log = store.log("log")
        return best_of(lambda: log.last(50), 100)


def bare_fifty(path: str) -> float:
    """Seconds of the bare SELECT of the same rows."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    last = connection.execute("SELECT entry_count FROM logs").fetchone()[0]
    taken = best_of(lambda: connection.execute(sql.ENTRIES_BETWEEN, (1, last - 49, last)).fetchall(), 100)
    connection.close()
    return taken


def in_memory(appends: int) -> float:
    """Microseconds an append of a message to a history."""
    message = msglog.Message(**MESSAGE)
    history = msglog.MessageHistory()
    started = time.perf_counter()
    for _ in range(appends):
        history = history.append(message)
    return (time.perf_counter() - started) / appends * 1e6


def kept_alive() -> float:
    """Megabytes that 10,000 revisions kept alive take beyond their messages."""
    messages = [msglog.Message(**MESSAGE) for _ in range(10_000)]
    gc.collect()
    tracemalloc.start()
    kept = [msglog.MessageHistory()]
    for message in messages:
        kept.append(kept[-1].append(message))
    held = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    return held


def measure(bench: Bench) -> None:
    """Everything, in order."""
    compare, rounds = bench.compare, bench.rounds

    def full() -> float:
        return plain_appends(bench, "FULL")

    def normal() -> float:
        return plain_appends(bench, "NORMAL")

    compare("one caller, full / plain sqlite3", "≤ 2", lambda: appends(bench, "full"), full, "s")
    compare("one blocking caller, full / plain sqlite3", "≤ 2", lambda: blocking_appends(bench), full, "s")
    compare("one caller, normal / plain sqlite3", "≤ 5", lambda: appends(bench, "normal"), normal, "s")
    compare(
        "appends/s of 64 callers, full / of one plain sqlite3",
        "≥ 4",
        lambda: 1 / appends(bench, "full", 64),
        lambda: 1 / full(),
        "per s",
    )
    compare(
        "append_many(1000) / executemany", "≤ 2.5", lambda: batch(bench, 1000), lambda: plain_batch(bench, 1000), "s"
    )
    small, large = filled(bench, 1000), filled(bench, bench.entries)
    size = f"{bench.entries:,}"
    compare(f"append at {size} / at 1,000", "≤ 1.2", lambda: appends_to(large), lambda: appends_to(small), "s")
    compare(f"open, resume 200 of {size} / of 1,000", "≤ 1.5", lambda: resume(large), lambda: resume(small), "s")
    compare(f"last(50) of {size} / bare SELECT", "≤ 3", lambda: last_fifty(large), lambda: bare_fifty(large), "s")
    bench.note("in memory, µs an append", "≤ 10", [in_memory(20_000) for _ in range(rounds)])
    bench.note("10,000 revisions kept alive, MB", "≤ 10", [kept_alive()])
    path = bench.path()
    with msglog.sync.open(path, durability="normal") as store:
        log = store.log("log")
        for _ in range(bench.appends):
            log.append(MESSAGE)
        store.close()
        half = os.stat(path).st_size
    with msglog.sync.open(path, durability="normal") as store:
        log = store.log("log")
        for _ in range(4000):
            log.append(MESSAGE)
    bench.note("disk / JSON, single appends", "≤ 1.6", [(os.stat(path).st_size - half) / (4000 * JSON_BYTES)])


def syncs_a_second(folder: Path) -> float:
    """How many fsyncs of a page the disk does in a second."""
    descriptor = os.open(folder / "sync", os.O_RDWR | os.O_CREAT)
    started = time.perf_counter()
    for page in range(300):
        os.pwrite(descriptor, bytes(4096), page * 4096)
        os.fsync(descriptor)
    taken = time.perf_counter() - started
    os.close(descriptor)
    return 300 / taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    parser.add_argument("--rounds", type=int, help="rounds of each comparison (5; with --quick 3)")
    parser.add_argument("--entries", type=int, help="entries of the large log (1,000,000; with --quick 20,000)")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file too")
    arguments = parser.parse_args()
    quick = arguments.quick
    with tempfile.TemporaryDirectory(prefix="msglog-bench-", dir=os.environ.get("MSGLOG_BENCH_DIR")) as name:
        folder = Path(name)
        entries = arguments.entries or (20_000 if quick else 1_000_000)
        bench = Bench(folder, quick=quick, rounds=arguments.rounds or (3 if quick else 5), entries=entries)
        machine = (
            f"{os.cpu_count()} cores, {syncs_a_second(folder):,.0f} fsyncs a second, "
            f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
        )
        measure(bench)
    print(f"{machine}; messages of {JSON_BYTES} bytes; medians of {bench.rounds} rounds\n")
    print("| what | measured | spread | bound | detail |\n| --- | --- | --- | --- | --- |")
    for row in bench.rows:
        print(f"| {row.what} | {row.figure:.2f} | {row.low:.2f} to {row.high:.2f} | {row.bound} | {row.detail} |")
    if arguments.json:
        Path(arguments.json).write_text(
            json.dumps({"machine": machine, "rows": [asdict(r) for r in bench.rows]}, indent=1)
        )


if __name__ == "__main__":
    main()
