"""A file is written to only while everything that keeps its writers apart is what was opened."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import msglog
from msglog.errors import CannotOpenError, StoreIOError, StoreReplacedError
from tests.concurrency.processes import at_once
from tests.concurrency.workers import append_each


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


def plainly(path: Path) -> None:
    """What any tool does that looks at a file: closing it drops this process's locks."""
    path.open("rb").close()


def through_another_library(path: Path) -> None:
    """A second SQLite in the process: to the system, its locks and those of the store are the same ones."""
    apsw = pytest.importorskip("apsw")
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM entries").fetchall()
    connection.close()


@pytest.mark.parametrize("look", [plainly, through_another_library])
@pytest.mark.parametrize("turns", [1, 5])
async def test_looking_at_the_open_file_loses_nothing_that_was_acknowledged(
    tmp_path: Path, look: Callable[[Path], None], turns: int
) -> None:
    path = tmp_path / "a.db"
    acknowledged = []
    for turn in range(turns):
        async with msglog.open(path) as store:
            for step in range(6):
                if step == 2:
                    look(path)
                if step == 3:
                    acknowledged += [f"other {turn}"]
                    at_once(append_each, [(str(path), [f"other {turn}"], "talk")])
                try:
                    await store.log("talk").add("user", f"{turn} {step}")
                except (StoreReplacedError, StoreIOError):
                    break
                acknowledged.append(f"{turn} {step}")
    async with msglog.open(path) as store:
        stored = [message.text for message in await store.log("talk").all()]
        assert set(acknowledged) <= set(stored)
        assert len(stored) == len(set(stored))
        assert (await store.verify()).ok


async def test_a_file_that_is_replaced_by_another_store_is_not_written_to(tmp_path: Path) -> None:
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    async with msglog.open(other) as store:
        await store.log("talk").add("user", "the other's")
    store = await msglog.open(path)
    await store.log("talk").add("user", "mine")
    os.replace(other, path)
    with pytest.raises(StoreReplacedError):
        await store.log("talk").add("user", "nowhere")
    await store.close()
