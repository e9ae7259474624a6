"""Whatever fails while a store is opened: it opens the next time, whole or new."""

from __future__ import annotations

from pathlib import Path

import pytest

import msglog
from msglog.errors import MsgLogError, StoreFullError, StoreIOError
from tests.faults.drivers import FaultyDriver, When


async def attempt(path: Path, driver: FaultyDriver) -> MsgLogError | None:
    try:
        async with msglog.open(path, driver=driver):
            return None
    except MsgLogError as error:
        return error


@pytest.mark.parametrize(
    ("code", "explained", "when"),
    [("SQLITE_FULL", StoreFullError, "before"), ("SQLITE_IOERR_WRITE", StoreIOError, "after")],
)
async def test_a_failure_of_any_statement_while_a_file_is_made_spoils_nothing(
    tmp_path: Path, code: str, explained: type[MsgLogError], when: When
) -> None:
    for n in range(200):
        path, driver = tmp_path / f"{n}.db", FaultyDriver()
        driver.arm(n, code, when)
        error = await attempt(path, driver)
        if error is None:
            break
        assert isinstance(error, explained), driver.failed
        async with msglog.open(path) as store:
            assert await store.log("talk").add("user", "x") == 1
            assert (await store.verify()).ok
    assert n > 20, "tables, triggers and views, each by a statement of its own"


async def test_a_file_that_cannot_be_opened_leaves_nothing_behind_that_would_keep_it_so(path: Path) -> None:
    driver = FaultyDriver()
    driver.broken_opens = 1
    with pytest.raises(MsgLogError):
        await msglog.open(path, driver=driver)
    async with msglog.open(path, driver=driver) as store:
        assert await store.log("talk").add("user", "x") == 1
