"""A disk that is really full: nothing acknowledged is lost, nothing refused is kept, and the same store goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import msglog
from msglog import Store
from msglog.errors import StoreFullError
from msglog.storage.engine import Connection
from msglog.storage.sqlite import SqliteDriver
from tests.strategies import user


class SmallDriver(SqliteDriver):
    """Files may have so many pages, and no more."""

    def __init__(self, pages: int) -> None:
        super().__init__()
        self._pages = pages
        self._open: list[Connection] = []

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        connection = super().connect(path, read_only=read_only)
        if not read_only:
            connection.execute(f"PRAGMA max_page_count = {self._pages}")
            self._open.append(connection)
        return connection

    def allow(self, pages: int) -> None:
        """Let files grow, also those that are open."""
        self._pages = pages
        self._open[-1].execute(f"PRAGMA max_page_count = {pages}")


async def filled(store: Store) -> list[int]:
    """Append until no more fits; the seqs that were acknowledged."""
    acknowledged: list[int] = []
    while True:
        try:
            acknowledged.append(await store.log("talk").add("user", f"{len(acknowledged)} " + "x" * 3000))
        except StoreFullError:
            return acknowledged


async def test_a_full_file_refuses_and_goes_on_once_there_is_room(path: Path) -> None:
    driver = SmallDriver(60)
    async with msglog.open(path, durability="normal", driver=driver) as store:
        log = store.log("talk")
        acknowledged = await filled(store)
        assert len(acknowledged) > 5
        assert [message.seq for message in await log.all()] == acknowledged
        with pytest.raises(StoreFullError):
            await log.append_many([user("y" * 3000)] * 3)
        driver.allow(1000)
        assert await log.add("user", "there is room") == len(acknowledged) + 1
        assert (await store.verify()).ok


async def test_what_still_fits_is_stored_although_another_of_its_group_does_not(path: Path) -> None:
    driver = SmallDriver(60)
    async with msglog.open(path, durability="normal", driver=driver) as store:
        log = store.log("talk")
        acknowledged = await filled(store)
        long = "y" * 9000
        told = await asyncio.gather(*(log.add("user", text) for text in (long, "short", long)), return_exceptions=True)
    assert [type(each) for each in told] == [StoreFullError, int, StoreFullError]
    assert told[1] == len(acknowledged) + 1


async def test_a_full_file_can_be_read_and_backed_up(path: Path, tmp_path: Path) -> None:
    async with msglog.open(path, durability="normal", driver=SmallDriver(60)) as store:
        acknowledged = await filled(store)
        assert await store.log("talk").count() == len(acknowledged)
        await store.backup(tmp_path / "copy.db")
    async with msglog.open(tmp_path / "copy.db") as copy:
        assert await copy.log("talk").count() == len(acknowledged)


async def test_a_file_that_is_too_small_to_begin_with_is_refused_and_can_be_made_later(path: Path) -> None:
    with pytest.raises(StoreFullError):
        await msglog.open(path, driver=SmallDriver(5))
    async with msglog.open(path, driver=SmallDriver(1000)) as store:
        assert await store.log("talk").add("user", "x") == 1
