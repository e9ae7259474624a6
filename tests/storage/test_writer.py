"""The writer: what waits is committed together, in order, and nobody pays for another's fault."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import MessageLog, Store
from msglog.codec import EMPTY
from msglog.errors import (
    BatchTooLargeError,
    ConflictError,
    DuplicateEntryError,
    MsgLogError,
    StoreBusyError,
    StoreClosedError,
    StoreReplacedError,
    UnknownBranchError,
)
from msglog.message import as_entry
from msglog.storage import commits, writer
from msglog.storage.requests import Append
from msglog.storage.rows import draft
from tests.faults.drivers import FaultyDriver, GateDriver, SpyDriver
from tests.strategies import user

MIB = 2**20


@pytest.fixture
def gate() -> GateDriver:
    return GateDriver()


@pytest.fixture
async def store(path: Path, gate: GateDriver) -> AsyncIterator[Store]:
    async with msglog.open(path, driver=gate) as opened:
        try:
            yield opened
        finally:
            gate.let_through()


async def waiting(gate: GateDriver, *work: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    """Tasks whose requests all stand in the queue when the writer begins its next transaction."""
    gate.shut("BEGIN")
    tasks = [asyncio.ensure_future(each) for each in work]
    await asyncio.sleep(0)  # each of them comes as far as the queue
    await gate.arrived()
    gate.forget()
    gate.let_through()
    return tasks


def outcome(task: asyncio.Task[Any]) -> object:
    """A task's result, or the type of what it raised."""
    error = task.exception()
    return task.result() if error is None else type(error)


# Groups


async def test_what_waits_is_committed_together_and_in_order(log: MessageLog, gate: GateDriver) -> None:
    tasks = await waiting(gate, *(log.add("user", f"text {i}") for i in range(100)))
    assert await asyncio.gather(*tasks) == list(range(1, 101))
    assert gate.count("COMMIT") == 1
    assert [message.content for message in await log.all()] == [f"text {i}" for i in range(100)]


async def test_a_group_is_written_with_one_statement_for_each_table(log: MessageLog, gate: GateDriver) -> None:
    await log.add("user", "first")
    await asyncio.gather(*await waiting(gate, *(log.add("user", "x") for _ in range(50))))
    assert gate.inserted() == {"entries": 50, "revisions": 50}
    assert gate.count("INSERT") == 2


async def test_a_group_stops_at_256_requests(log: MessageLog, gate: GateDriver) -> None:
    await asyncio.gather(*await waiting(gate, *(log.add("user", "x") for _ in range(600))))
    assert gate.count("COMMIT") == 3


async def test_a_group_stops_at_four_mebibytes(log: MessageLog, gate: GateDriver) -> None:
    await asyncio.gather(*await waiting(gate, *(log.add("user", "x" * MIB) for _ in range(7))))
    assert gate.count("COMMIT") == 3


async def test_a_batch_larger_than_a_group_is_committed_alone(log: MessageLog, gate: GateDriver) -> None:
    batch = [user("x" * MIB)] * 5
    tasks = await waiting(gate, log.add("user", "x"), log.append_many(batch), log.add("user", "x"))
    assert await asyncio.gather(*tasks) == [1, 6, 7]
    assert gate.count("COMMIT") == 3


async def test_a_batch_beyond_the_limit_is_refused(log: MessageLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BATCH_BYTES", 1000)
    monkeypatch.setattr(commits, "BATCH_BYTES", 1000)
    with pytest.raises(BatchTooLargeError) as refusal:
        await log.append_many([user("x" * 400)] * 3)
    assert (refusal.value.limit, await log.count()) == (1000, 0)
    with pytest.raises(BatchTooLargeError):
        await log.commit((await log.history()).append(*[user("x" * 400)] * 3))
    assert await log.count() == 0


# Faults of one caller


async def test_one_callers_fault_fails_that_caller_alone(log: MessageLog, store: Store, gate: GateDriver) -> None:
    await log.append({"id": "taken", "message": user("a")})
    tasks = await waiting(
        gate,
        log.add("user", "b"),
        log.append({"id": "taken", "message": user("other")}),
        log.add("user", "c"),
        store.log("talk", "nowhere").add("user", "d"),
        log.add("user", "e", expected_seq=77),
        log.add("user", "f"),
    )
    await asyncio.wait(tasks)
    assert [outcome(task) for task in tasks] == [2, DuplicateEntryError, 3, UnknownBranchError, ConflictError, 4]
    assert gate.count("COMMIT") == 1
    assert (await store.verify()).ok


def poison(log: MessageLog, at: int = 2**70) -> Append:
    """A request that no database takes, and that no check foresees."""
    return Append(log.name, "main", [draft(as_entry(user("x")), at, fresh=True)], EMPTY)


async def test_a_request_that_breaks_the_transaction_fails_alone(
    log: MessageLog, store: Store, gate: GateDriver
) -> None:
    broken = store._access.write(poison(log))
    tasks = await waiting(gate, log.add("user", "a"), broken, log.add("user", "b"))
    await asyncio.wait(tasks)
    assert isinstance(tasks[1].exception(), (MsgLogError, ValueError, TypeError, OverflowError))
    assert [outcome(tasks[0]), outcome(tasks[2])] == [1, 2]
    assert await log.add("user", "c") == 3
    assert (await store.verify()).ok


async def test_requests_that_break_one_after_another_each_hear_of_it(
    log: MessageLog, store: Store, gate: GateDriver
) -> None:
    broken = [store._access.write(poison(log)) for _ in range(3)]
    tasks = await waiting(gate, broken[0], log.add("user", "a"), broken[1], broken[2])
    await asyncio.wait(tasks)
    assert [task.exception() is None for task in tasks] == [False, True, False, False]
    assert await log.add("user", "b") == 2


async def test_a_statement_that_fails_once_costs_no_caller_anything(path: Path) -> None:
    driver = FaultyDriver()
    async with msglog.open(path, driver=driver) as store:
        log = store.log("talk")
        await log.add("user", "first")
        driver.arm(0, "SQLITE_IOERR_WRITE", only="INSERT INTO revisions")
        await asyncio.gather(*(log.add("user", "x") for _ in range(10)))
        assert [message.seq for message in await log.all()] == list(range(1, 12))
        assert driver.failed


# Cancelling


async def test_an_append_that_is_cancelled_while_it_waits_is_not_stored(log: MessageLog, gate: GateDriver) -> None:
    gate.shut("BEGIN")
    kept, dropped = (asyncio.ensure_future(log.add("user", text)) for text in ("kept", "dropped"))
    await asyncio.sleep(0)
    await gate.arrived()
    dropped.cancel()
    with suppress(asyncio.CancelledError):
        await dropped
    gate.let_through()
    assert await kept == 1
    assert [message.content for message in await log.all()] == ["kept"]


async def test_an_append_that_is_cancelled_once_it_is_taken_is_stored(log: MessageLog, gate: GateDriver) -> None:
    gate.shut("COMMIT")
    task = asyncio.ensure_future(log.add("user", "taken"))
    await gate.arrived()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.let_through()
    assert await log.add("user", "next") == 2
    assert [message.content for message in await log.all()] == ["taken", "next"]


def test_an_event_loop_that_is_closed_before_it_is_woken_harms_nobody(path: Path, gate: GateDriver) -> None:
    async def opened() -> Store:
        return await msglog.open(path, driver=gate)

    with asyncio.Runner() as runner:
        store = runner.run(opened())
        log = store.log("talk")
        gate.shut("COMMIT")
        lost = asyncio.new_event_loop()
        task = lost.create_task(log.add("user", "from the lost loop"))
        lost.run_until_complete(asyncio.sleep(0))
        gate.arrived_blocking()
        lost.close()
        gate.let_through()
        assert runner.run(log.add("user", "from another")) == 2
        runner.run(store.close())
        assert not task.done()
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # nobody can end it any more
        task.get_coro().close()  # nor the coroutine in it


# Waiting for others


async def test_a_file_that_stays_locked_is_reported_and_works_again_afterwards(path: Path) -> None:
    async with msglog.open(path, busy_timeout=0.05) as store:
        log = store.log("talk")
        await log.add("user", "a")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreBusyError) as refusal:
                await log.add("user", "b")
            assert refusal.value.waited >= 0.05
            other.execute("ROLLBACK")
        assert await log.add("user", "c") == 2


async def test_a_turn_that_never_comes_is_reported_and_works_again_afterwards(path: Path) -> None:
    async with msglog.open(path, busy_timeout=0.05) as store:
        log = store.log("talk")
        await log.add("user", "a")
        descriptor = os.open(f"{path}-lock", os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with pytest.raises(StoreBusyError):
                await log.add("user", "b")
        finally:
            os.close(descriptor)
        assert await log.add("user", "c") == 2


async def test_each_caller_has_its_own_deadline(path: Path) -> None:
    async with msglog.open(path, busy_timeout=0.05) as hasty, msglog.open(path, busy_timeout=30) as patient:
        await hasty.log("talk").add("user", "a")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            kept = asyncio.ensure_future(patient.log("talk").add("user", "b"))
            with pytest.raises(StoreBusyError):
                await hasty.log("talk").add("user", "c")
            assert not kept.done()
            other.execute("ROLLBACK")
        assert await kept == 2


# Closing


async def test_closing_finishes_what_waits_and_takes_no_more(log: MessageLog, store: Store, gate: GateDriver) -> None:
    gate.shut("BEGIN")
    tasks = [asyncio.ensure_future(log.add("user", "x")) for _ in range(5)]
    await asyncio.sleep(0)
    await gate.arrived()
    closing_ = asyncio.ensure_future(store.close())
    await asyncio.sleep(0)
    gate.let_through()
    await closing_
    assert await asyncio.gather(*tasks) == [1, 2, 3, 4, 5]
    with pytest.raises(StoreClosedError):
        await log.add("user", "late")


# The file taken away


def replaced(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".copy"))
    path.with_suffix(".copy").replace(path)


def removed(path: Path) -> None:
    path.unlink()


def without_wal(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def without_shm(path: Path) -> None:
    Path(f"{path}-shm").unlink()


@pytest.mark.parametrize("away", [replaced, removed, without_wal])
async def test_nothing_is_acknowledged_once_the_file_is_another(path: Path, away: Callable[[Path], None]) -> None:
    async with msglog.open(path) as store:
        log = store.log("talk")
        await log.add("user", "a")
        away(path)
        for _ in range(2):
            with pytest.raises(StoreReplacedError):
                await log.add("user", "b")


async def test_the_file_that_took_its_place_can_be_opened(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").add("user", "a")
        for away in (removed, without_wal, without_shm):
            away(path)
        async with msglog.open(path) as fresh:
            assert await fresh.log("talk").add("user", "b") == 1
        with pytest.raises(StoreReplacedError):
            await store.log("talk").add("user", "c")
    async with msglog.open(path, create=False) as again:
        assert [message.content for message in await again.log("talk").all()] == ["b"]


# What is on disk


@pytest.mark.parametrize(("durability", "level"), [("full", "FULL"), ("normal", "NORMAL")])
async def test_durability_says_how_a_commit_is_synced(path: Path, durability: Any, level: str) -> None:
    driver = SpyDriver()
    async with msglog.open(path, durability=durability, driver=driver) as store:
        await store.log("talk").add("user", "x")
    levels = [sql for sql in driver.statements if sql.startswith("PRAGMA synchronous")]
    assert levels == [f"PRAGMA synchronous = {level}"]
    (first,) = [at for at, sql in enumerate(driver.statements) if sql.startswith("INSERT INTO logs")]
    assert driver.statements.index(levels[0]) < first


async def test_full_durability_of_one_store_holds_for_all_that_share_the_file(path: Path) -> None:
    driver = SpyDriver()
    async with msglog.open(path, durability="normal", driver=driver) as store:
        await store.log("talk").add("user", "x")
        async with msglog.open(path, durability="full", driver=driver):
            driver.forget()
            await store.log("talk").add("user", "x")
    assert "PRAGMA synchronous = FULL" in driver.statements


def traces(path: Path, secret: str) -> list[str]:
    """The files in which a text can be found, to one who looks at the bytes."""
    beside = [each for each in path.parent.iterdir() if each.is_file()]
    return [each.name for each in beside if secret.encode() in each.read_bytes()]


SECRET = "the colour of the door is mauve"


async def test_a_redacted_text_is_nowhere_in_the_files(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log("talk")
        await log.append_many([user("x" * 300)] * 40)
        await log.append(user(SECRET) | {"name": SECRET, "extra": {"k": SECRET}}, meta={"note": SECRET})
        await log.append_many([user("x" * 300)] * 40)
        assert (await log.redact(41)).complete
        assert SECRET not in repr(await log.get(41))
    assert traces(path, SECRET) == []


async def test_a_purged_log_is_nowhere_in_the_files(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("kept").add("user", "kept")
        await asyncio.gather(*(store.log(SECRET).add("user", f"{SECRET} {i}") for i in range(50)))
        assert (await store.purge(SECRET)).complete
    assert traces(path, SECRET) == []
    assert traces(path, "kept") == [path.name]


async def test_what_a_reader_kept_in_the_log_is_taken_out_by_a_later_checkpoint(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log("talk")
        await log.append_many([user("first"), user(SECRET)])
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM entries").fetchall()
            assert not (await log.redact(2)).complete
            assert traces(path, SECRET)
            reader.execute("COMMIT")
        for text in ("third", "fourth"):  # the checkpoint comes after the third is acknowledged, before the fourth
            await log.add("user", text)
        left = await store.sql("SELECT * FROM marks WHERE name = 'erasure'")
        shutil.copytree(path.parent, path.parent / "seen")
    assert traces(path.parent / "seen" / path.name, SECRET) == []
    assert left == []


async def test_an_erasure_that_another_process_left_unfinished_is_finished(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log("talk").add("user", "x")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("INSERT INTO marks VALUES ('erasure', 1)")
    async with msglog.open(path) as store:
        for text in ("y", "z"):
            await store.log("talk").add("user", text)
        assert await store.sql("SELECT * FROM marks WHERE name = 'erasure'") == []


async def test_the_write_ahead_log_stays_bounded_while_others_read(path: Path) -> None:
    async with msglog.open(path, durability="normal") as store:
        log = store.log("talk")
        most = 0
        for i in range(40):
            _, page = await asyncio.gather(log.add("user", f"{i}" * (MIB // 2)), log.last(2))
            most = max(most, (await store.stats()).wal_bytes)
            assert len(page) <= 2
        assert (await store.stats()).bytes > 10 * MIB
    assert most <= 12 * MIB
