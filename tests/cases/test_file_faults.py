from __future__ import annotations

import asyncio
import sqlite3
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import Store
from msglog.errors import CannotOpenError, StoreError, StoreFullError
from msglog.storage.engine import Connection
from msglog.storage.sqlite import DbApiConnection, SqliteDriver
from tests.concurrency.processes import Process
from tests.concurrency.workers import LOG, append_pairs_until_told, append_when_told, back_up_and_stop_half_way, user


async def test_fil_1_a_backup_of_a_live_file_is_one_moment_of_it(path: Path, tmp_path: Path, store: Store) -> None:
    with Process(append_pairs_until_told, str(path)) as writer:
        assert writer.hear() == "begun"
        for number in range(5):
            least = await store.log(LOG).count()
            await store.backup(tmp_path / f"{number}.backup")
            async with msglog.open(tmp_path / f"{number}.backup", read_only=True) as copy:
                messages = await copy.log(LOG).all()
                assert len(messages) % 2 == 0
                assert len(messages) >= least
                assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
                assert (await copy.verify()).ok
        writer.tell("enough")
        assert writer.result() > 0


async def test_fil_1_a_backup_that_was_interrupted_leaves_nothing_under_its_name(tmp_path: Path, store: Store) -> None:
    await store.log(LOG).append(user("hi"))
    target = tmp_path / "copy.db"
    with Process(back_up_and_stop_half_way, store.path, str(target)) as process:
        assert process.hear() == "half way"
        process.kill()
    await store.backup(target)
    async with msglog.open(target, read_only=True) as copy:
        assert await copy.log(LOG).count() == 1


class SmallDriver(SqliteDriver):
    """Files can grow by so many pages beyond what they are."""

    more: int | None = None

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        connection = super().connect(path, read_only=read_only)
        if self.more is not None:
            (pages,) = connection.execute("PRAGMA page_count")[0]
            connection.execute(f"PRAGMA max_page_count = {pages + self.more}")
        return connection


async def test_fil_2_a_full_disk_is_said_clearly_and_costs_nothing_that_was_stored(path: Path) -> None:
    async with msglog.open(path) as store:
        await store.log(LOG).append_many(user(f"{i}") for i in range(10))
    driver = SmallDriver()
    driver.more = 20
    async with msglog.open(path, driver=driver) as store:
        log = store.log(LOG)
        batch = [user("secret " * 430), user("secret " * 430)]
        stored = 10
        with suppress(StoreFullError):
            while stored < 100:
                await log.append_many(batch)
                stored += 2
        with pytest.raises(StoreFullError) as caught:
            await log.append_many(batch)
        assert "secret" not in str(caught.value)
        assert caught.value.path == str(path)
        assert len(await log.all()) == stored < 100
    async with msglog.open(path) as store:
        assert await store.log(LOG).append(user("room again")) == stored + 1
        assert (await store.verify()).ok


async def test_fil_4_a_missing_directory_is_made(tmp_path: Path) -> None:
    async with msglog.open(tmp_path / "new" / "sub" / "dir" / "log.db") as store:
        assert await store.log(LOG).append(user("hi")) == 1


@pytest.mark.parametrize("name", ["a file/log.db", "", "a\0b", "postgresql://host/db"])
async def test_fil_4_a_path_that_cannot_be_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    await asyncio.to_thread((tmp_path / "a file").touch)
    given = str(tmp_path / name) if "/log" in name else name
    with pytest.raises(CannotOpenError) as caught:
        await msglog.open(given)
    assert isinstance(caught.value, StoreError)
    assert caught.value.path == given


class VfsDriver(SqliteDriver):
    """SQLite on a file system of a given kind."""

    def __init__(self, vfs: str) -> None:
        super().__init__()
        self.vfs = vfs

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        uri = f"file:{path}?mode={'ro' if read_only else 'rw'}&vfs={self.vfs}"
        opened: Any = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
        return DbApiConnection(opened, sqlite3.Error, may_write=not read_only)


async def test_fil_6_a_file_system_without_shared_memory_is_noticed_and_served(path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="no write-ahead log is possible"):
        opening = await msglog.open(path, driver=VfsDriver("unix-none"))
    async with opening as store:
        log = store.log(LOG)
        assert await log.append(user("1")) == 1
        assert await log.append_many([user("2"), user("3")]) == 3
        assert [message.text for message in await log.all()] == ["1", "2", "3"]
        assert (await store.verify()).ok


async def test_fil_6_a_file_system_with_lock_files_is_served(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        async with msglog.open(path, driver=VfsDriver("unix-dotfile"), busy_timeout=0.5) as store:
            assert await store.log(LOG).append(user("1")) == 1


async def test_fil_6_a_file_system_with_shared_memory_gives_no_warning(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with msglog.open(path) as store:
            with Process(append_when_told, str(path)) as other:
                assert other.hear() == "open"
            assert await store.log(LOG).append(user("1")) == 1
