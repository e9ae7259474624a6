"""A file is written to only while everything that keeps its writers apart is what was opened."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import msglog
from msglog.errors import CannotOpenError, StoreIOError, StoreReplacedError


async def test_an_index_that_was_removed_is_noticed_before_anything_is_acknowledged(tmp_path: Path) -> None:
    store = await msglog.open(tmp_path / "a.db")
    log = store.log("talk")
    await log.add("user", "one")
    (tmp_path / "a.db-shm").unlink()
    with pytest.raises(StoreReplacedError):
        await log.add("user", "two")
    await store.close()


async def test_a_file_with_two_names_is_not_opened(tmp_path: Path) -> None:
    async with msglog.open(tmp_path / "a.db"):
        pass
    os.link(tmp_path / "a.db", tmp_path / "b.db")
    with pytest.raises(CannotOpenError, match="second name"):
        await msglog.open(tmp_path / "b.db")


async def test_a_file_that_gets_a_second_name_is_no_longer_written_to(tmp_path: Path) -> None:
    store = await msglog.open(tmp_path / "a.db")
    log = store.log("talk")
    await log.add("user", "one")
    os.link(tmp_path / "a.db", tmp_path / "b.db")
    with pytest.raises(StoreReplacedError):
        await log.add("user", "two")
    await store.close()


async def test_a_store_without_patience_still_commits_what_nobody_holds_up(tmp_path: Path) -> None:
    async with msglog.open(tmp_path / "a.db", busy_timeout=0) as store:
        log = store.log("talk")
        assert [await log.add("user", str(i)) for i in range(20)] == list(range(1, 21))


async def test_a_thread_that_cannot_be_started_fails_the_append_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with msglog.open(tmp_path / "a.db") as store:
        log = store.log("talk")
        with monkeypatch.context() as broken:

            def refuse(thread: threading.Thread) -> None:
                raise RuntimeError("can't start new thread")

            broken.setattr(threading.Thread, "start", refuse)
            with pytest.raises(StoreIOError):
                await log.add("user", "one")
        assert await log.add("user", "one") == 1


async def test_a_branch_behind_a_thousand_forks_is_read_like_any_other(tmp_path: Path) -> None:
    async with msglog.open(tmp_path / "a.db", durability="normal") as store:
        log = store.log("talk")
        await log.add("user", "root")
        for i in range(1010):
            log = await log.fork(f"fork {i}")
            if i % 100 == 0:
                await log.add("user", str(i))
        assert [message.text for message in await log.read()] == ["root", *(str(i) for i in range(0, 1010, 100))]
        assert len([revision async for revision in log.lineage()]) == 13


async def test_a_file_made_anew_where_one_was_removed_is_another_store(tmp_path: Path) -> None:
    async with msglog.open(tmp_path / "a.db"):
        (tmp_path / "a.db").unlink()
        for _ in range(5):  # a file system gives the inode of a removed file to the next one, unless it is held
            async with msglog.open(tmp_path / "a.db") as other:
                assert await other.log("talk").add("user", "hi") == 1
            for each in tmp_path.glob("a.db*"):  # noqa: ASYNC240 a few names
                each.unlink()
