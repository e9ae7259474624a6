from __future__ import annotations

import sqlite3
from pathlib import Path

import msglog
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, page_until_told, pause_in_reading, user

MB = 2**20


def wal_of(path: Path) -> int:
    return path.with_name(path.name + "-wal").stat().st_size


async def test_the_wal_stays_small_though_readers_overlap_all_the_time(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log(LOG)
        await log.append_many(user("x" * 10_000) for _ in range(100))
        readers = [Process(page_until_told, str(path)) for _ in range(3)]
        for reader in readers:
            reader.go()
            assert reader.hear() == "reads"
        sizes = []
        for _ in range(400):
            await log.append(user("x" * 100_000))
            sizes.append(wal_of(path))
        for reader in readers:
            reader.tell("enough")
            assert reader.result() > 0
            reader.kill()
        assert max(sizes) < 32 * MB


async def test_the_wal_stays_small_though_a_reader_pauses_in_another_process(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log(LOG)
        await log.append_many(user("x") for _ in range(50))
        with Process(pause_in_reading, str(path)) as reader:
            assert reader.hear() == "paused"
            sizes = []
            for _ in range(200):
                await log.append(user("x" * 100_000))
                sizes.append(wal_of(path))
            assert max(sizes) < 10 * MB
            reader.tell("go on")
            assert reader.result() == list(range(1, 51))


async def test_the_wal_shrinks_again_once_somebody_s_long_transaction_ends(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log(LOG)
        await log.append(user("first"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN")
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (1,)
        for _ in range(150):
            await log.append(user("x" * 100_000))
        assert wal_of(path) > 10 * MB
        assert other.execute("SELECT count(*) FROM entries").fetchone() == (1,)
        other.execute("COMMIT")
        other.close()
        for _ in range(12):
            await log.append(user("x" * 100_000))
        assert wal_of(path) < 8 * MB
        assert (await store.verify()).ok
