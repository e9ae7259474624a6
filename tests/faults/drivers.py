"""Drivers for tests: SQLite as it is, with every statement shown to a spy, or made to fail."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from msglog.storage.engine import Connection, DriverError, Row
from msglog.storage.sqlite import SqliteDriver

When = Literal["before", "after"]


class Spied:
    """A connection whose statements are reported before and after they run."""

    def __init__(self, connection: Connection, driver: SpyDriver, *, read_only: bool) -> None:
        self._connection = connection
        self._driver = driver
        self._read_only = read_only

    def _watched(self, sql: str, rows: int, run: Callable[[], Any]) -> Any:
        if self._read_only:
            return run()
        self._driver.before(sql, rows)
        result = run()
        self._driver.after(sql)
        return result

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        found: list[Row] = self._watched(sql, 1, lambda: self._connection.execute(sql, parameters))
        return found

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        rows = list(rows)
        self._watched(sql, len(rows), lambda: self._connection.executemany(sql, rows))

    def describe(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[Row]]:
        return self._connection.describe(sql, parameters)

    def close(self) -> None:
        self._connection.close()


class SpyDriver(SqliteDriver):
    """Notes what runs on connections that write, in order: each statement, and how many rows it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.statements: list[str] = []
        self.rows: list[tuple[str, int]] = []

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        return Spied(super().connect(path, read_only=read_only), self, read_only=read_only)

    def before(self, sql: str, rows: int) -> None:
        self.statements.append(sql)
        self.rows.append((sql, rows))

    def after(self, sql: str) -> None:
        """Nothing, here."""

    def forget(self) -> None:
        self.statements.clear()
        self.rows.clear()

    def count(self, start: str) -> int:
        """How many statements began like this."""
        return sum(sql.startswith(start) for sql in self.statements)

    def inserted(self) -> dict[str, int]:
        """Rows inserted, by table."""
        found: dict[str, int] = {}
        for sql, rows in self.rows:
            if sql.startswith("INSERT INTO "):
                table = sql.split()[2]
                found[table] = found.get(table, 0) + rows
        return found


class GateDriver(SpyDriver):
    """Stops the writer before a statement, until it is let through."""

    def __init__(self) -> None:
        super().__init__()
        self._at = ""
        self._arrived = threading.Event()
        self._open = threading.Event()

    def shut(self, at: str) -> None:
        """From now on, wait before the next statement that begins like this."""
        self._arrived.clear()
        self._open.clear()
        self._at = at

    def let_through(self) -> None:
        self._at = ""
        self._open.set()

    async def arrived(self) -> None:
        """The writer stands at the gate."""
        assert await asyncio.to_thread(self._arrived.wait, 30)

    def arrived_blocking(self) -> None:
        """The same, in a thread."""
        assert self._arrived.wait(30)

    def before(self, sql: str, rows: int) -> None:
        super().before(sql, rows)
        if self._at and sql.startswith(self._at):
            self._at = ""
            self._arrived.set()
            assert self._open.wait(30)


class FaultyDriver(SpyDriver):
    """Fails the n-th statement (from 0) that runs once it is armed, before or after it takes effect."""

    def __init__(self) -> None:
        super().__init__()
        self._left: int | None = None
        self._times = 0
        self._code = ""
        self._when: When = "before"
        self._only = ""
        self.failed: list[str] = []
        self.broken_opens = 0

    def arm(self, at: int, code: str, when: When = "before", *, only: str = "", times: int = 1) -> None:
        """Fail `times` statements that begin with `only`, from the n-th on."""
        self._left, self._code, self._when, self._only, self._times = at, code, when, only, times
        self.failed = []

    def disarm(self) -> None:
        self._left = None
        self.broken_opens = 0

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        if self.broken_opens and not read_only:
            self.broken_opens -= 1
            raise DriverError("SQLITE_CANTOPEN", "made to fail")
        return super().connect(path, read_only=read_only)

    def before(self, sql: str, rows: int) -> None:
        super().before(sql, rows)
        if self._when == "before":
            self._fail_if_due(sql)

    def after(self, sql: str) -> None:
        if self._when == "after":
            self._fail_if_due(sql)

    def _fail_if_due(self, sql: str) -> None:
        if self._left is None or not sql.startswith(self._only) or sql == "ROLLBACK":
            return
        if self._left > 0:
            self._left -= 1
            return
        self._times -= 1
        if self._times == 0:
            self._left = None
        self.failed.append(sql)
        raise DriverError(self._code, "made to fail")
