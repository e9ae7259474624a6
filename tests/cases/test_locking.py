from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path

import pytest

import msglog
from msglog.errors import StoreBusyError
from tests.concurrency.processes import Process, at_once
from tests.concurrency.workers import LOG, append_each, hold


async def test_lck_1_an_append_waits_for_a_short_lock_and_reads_do_not(path: Path) -> None:
    async with msglog.open(path) as store:
        log = store.log(LOG)
        await log.add("user", "before")
        with Process(hold, str(path), "BEGIN IMMEDIATE") as holder:
            assert holder.hear() == "held"
            append = asyncio.create_task(log.add("user", "after"))
            for _ in range(20):
                assert [message.text for message in await log.last(1)] == ["before"]
            assert not append.done()
            holder.tell("let go")
            assert await append == 2


async def test_lck_2_many_first_openers_of_a_fresh_file_all_succeed(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"round {number}.db"
        seqs = at_once(append_each, [(str(path), [f"from {i}"]) for i in range(8)])
        assert sorted(seqs) == [[seq] for seq in range(1, 9)]
        async with msglog.open(path) as store:
            assert [message.seq for message in await store.log(LOG).all()] == list(range(1, 9))
            assert len(await store.sql("SELECT * FROM alembic_version")) == 1
            assert (await store.verify()).ok


async def test_lck_4_a_lock_that_stays_gives_one_clear_error_in_time(path: Path) -> None:
    async with msglog.open(path, busy_timeout=0.5) as store:
        log = store.log(LOG)
        await log.add("user", "before")
        with Process(hold, str(path), "BEGIN EXCLUSIVE") as holder:
            assert holder.hear() == "held"
            started = time.monotonic()
            with pytest.raises(StoreBusyError) as caught:
                await log.add("user", "never")
            assert 0.5 <= time.monotonic() - started < 3
            assert caught.value.path == str(path)
            assert 0.5 <= caught.value.waited < 3
            holder.tell("let go")
            holder.result()
        assert await log.add("user", "after") == 2
        assert [message.text for message in await log.all()] == ["before", "after"]


async def test_lck_4_opening_under_a_lock_that_stays_gives_the_same_error(path: Path) -> None:
    async with msglog.open(path):
        pass
    with Process(hold, str(path), "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE") as holder:
        assert holder.hear() == "held"
        started = time.monotonic()
        with pytest.raises(StoreBusyError) as caught:
            await msglog.open(path, busy_timeout=0.5)
        assert 0.5 <= time.monotonic() - started < 3
        assert str(path) in str(caught.value)
        holder.tell("let go")
        holder.result()
    async with msglog.open(path) as store:
        assert await store.log(LOG).add("user", "after") == 1


async def test_lck_4_each_call_has_its_own_patience(path: Path) -> None:
    async with msglog.open(path, busy_timeout=0.3) as hasty, msglog.open(path) as patient:
        await hasty.log(LOG).add("user", "before")
        with Process(hold, str(path), "BEGIN IMMEDIATE") as holder:
            assert holder.hear() == "held"
            waiting = asyncio.create_task(patient.log(LOG).add("user", "patient"))
            with pytest.raises(StoreBusyError):
                await hasty.log(LOG).add("user", "hasty")
            assert not waiting.done()
            holder.tell("let go")
            assert await waiting == 2


async def test_lck_4_reads_go_on_while_another_process_writes(path: Path) -> None:
    async with msglog.open(path, busy_timeout=0.2) as store:
        await store.log(LOG).add("user", "before")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert [message.text for message in await store.log(LOG).all()] == ["before"]
        other.execute("ROLLBACK")
        other.close()
