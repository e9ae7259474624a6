"""`compact` gives back what a store does not use, beside readers and writers, and loses nothing when it is killed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import msglog
import msglog.sync
from msglog import Store
from msglog.errors import ReadOnlyError, StoreFullError, StoreIOError
from msglog.storage.sqlite import SqliteDriver
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, append_until_killed
from tests.faults.drivers import FaultyDriver
from tests.strategies import user


async def test_space_that_is_not_used_is_given_back(store: Store, path: Path) -> None:
    await store.log("kept").append_many([user("x" * 500)] * 20)
    connection = SqliteDriver().connect(str(path))
    connection.execute("CREATE TABLE filler (x)")
    connection.execute("INSERT INTO filler VALUES (zeroblob(3000000))")
    connection.execute("DROP TABLE filler")
    connection.close()
    report = await store.compact()
    assert report.complete
    assert report.wal_bytes_before > 0
    assert report.wal_bytes_after == 0
    assert report.bytes_after < 500_000
    assert report.bytes_after == (await store.stats()).bytes
    assert (await store.verify()).ok
    assert await store.log("kept").count() == 20


async def test_compacting_again_changes_nothing(store: Store) -> None:
    await store.log("talk").add("user", "hi")
    await store.compact()
    before = (await store.stats()).bytes
    report = await store.compact()
    assert (report.bytes_before, report.bytes_after) == (before, before)


async def test_a_reader_keeps_the_last_pages_and_loses_none(store: Store, path: Path) -> None:
    await store.log("talk").append_many([user("x")] * 50)
    connection = SqliteDriver().connect(str(path), read_only=True)
    connection.execute("BEGIN")
    assert connection.execute("SELECT count(*) FROM entries") == [(50,)]
    report = await store.compact()
    assert not report.complete
    assert connection.execute("SELECT count(*) FROM entries") == [(50,)]
    connection.close()
    assert (await store.compact()).complete


async def test_appends_and_reads_go_on_beside_it(store: Store) -> None:
    log = store.log("talk")
    await log.append_many([user(f"{i}") for i in range(200)])

    async def append() -> None:
        for i in range(60):
            await log.add("user", f"more {i}")

    async def read() -> None:
        for _ in range(20):
            messages = await log.all()
            assert [m.seq for m in messages] == list(range(1, len(messages) + 1))

    async def compact() -> None:
        for _ in range(5):
            await store.compact()

    await asyncio.gather(append(), read(), compact(), append())
    assert await log.count() == 320
    assert (await store.verify()).ok


async def test_a_store_that_was_opened_read_only_is_not_compacted(store: Store, path: Path) -> None:
    await store.log("talk").add("user", "hi")
    async with msglog.open(path, read_only=True) as other:
        with pytest.raises(ReadOnlyError):
            await other.compact()


@pytest.mark.parametrize(("code", "error"), [("SQLITE_FULL", StoreFullError), ("SQLITE_IOERR_WRITE", StoreIOError)])
@pytest.mark.parametrize("statement", ["VACUUM", "UPDATE marks", "PRAGMA wal_checkpoint"])
async def test_a_disk_that_says_no_is_said_and_the_store_goes_on(
    path: Path, code: str, error: type[Exception], statement: str
) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        await store.log("talk").add("user", "one")
        driver.arm(0, code, only=statement)
        with pytest.raises(error):
            await store.compact()
        await store.log("talk").add("user", "two")
        assert (await store.compact()).complete
        assert (await store.verify()).ok
        assert await store.log("talk").count() == 2


def test_writers_of_other_processes_lose_nothing_to_it(path: Path) -> None:
    with msglog.sync.open(path) as store:
        store.log(LOG).append_many([user("x" * 300)] * 500)
        writers = [Process(append_until_killed, str(path), name) for name in ("a", "b")]
        for writer in writers:
            writer.go()
        heard = []
        for _ in range(6):
            heard += [writer.hear() for writer in writers for _ in range(5)]
            store.compact()
        for writer in writers:
            heard += writer.kill()
        assert store.verify().ok
        seqs = [seq for _, seq in heard]
        assert len(seqs) == len(set(seqs)) <= store.log(LOG).seq() - 500


COMPACTS = """
import sys, msglog.sync
with msglog.sync.open(sys.argv[1]) as store:
    print("ready", flush=True)
    while True:
        store.compact()
        print("done", flush=True)
"""


def test_a_process_that_is_killed_while_it_compacts_leaves_everything(path: Path) -> None:
    with msglog.sync.open(path) as store:
        store.log("talk").append_many([user("x" * 300)] * 2000)
    for lines in (1, 2, 3, 4):
        with subprocess.Popen([sys.executable, "-c", COMPACTS, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(lines):
                process.stdout.readline()
            process.kill()
        with msglog.sync.open(path) as store:
            assert store.verify().ok
            assert store.log("talk").add("user", "more") == 2000 + lines
