"""A file that is locked for a moment, by whoever closes it just now, is opened a moment later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import msglog.sync
from msglog.errors import StoreBusyError
from msglog.storage.engine import Connection, DriverError, Row
from msglog.storage.sqlite import DbApiConnection, SqliteDriver


class LockedDriver(SqliteDriver):
    """Finds the file locked so many times, at the n-th statement that any connection runs."""

    def __init__(self, at: int, times: int) -> None:
        super().__init__()
        self.at = at
        self.times = times

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        connection = super().connect(path, read_only=read_only)
        assert isinstance(connection, DbApiConnection)
        return Locked(connection, self)


class Locked:
    def __init__(self, connection: DbApiConnection, driver: LockedDriver) -> None:
        self._connection = connection
        self._driver = driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        self._driver.at -= 1
        if self._driver.at < 0 < self._driver.times:
            self._driver.times -= 1
            raise DriverError("SQLITE_BUSY", "database is locked")
        return self._connection.execute(sql, parameters)


@pytest.mark.parametrize("at", range(8))
def test_whatever_statement_meets_the_lock_an_open_waits_for_it(path: Path, at: int) -> None:
    msglog.sync.open(path).close()
    driver = LockedDriver(at, 3)
    with msglog.sync.open(path, driver=driver) as store:
        store.log().add("user", "x")
        assert store.log().count() == 1
    assert driver.times == 0


def test_a_lock_that_stays_is_an_error_of_its_own(path: Path) -> None:
    msglog.sync.open(path).close()
    with pytest.raises(StoreBusyError):
        msglog.sync.open(path, driver=LockedDriver(0, 10**9), busy_timeout=0.05)
