"""What machines do not change: how often a commit syncs, and how much of a file a read goes through."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import msglog
from msglog import MessageLog
from msglog.storage.engine import Connection, Row
from msglog.storage.sqlite import DbApiConnection, SqliteDriver
from tests.faults.drivers import GateDriver, Spied
from tests.strategies import user

CALLERS = 64

# Syncs


class Syncs:
    """How often the write-ahead log was synced, on a disk that counts."""

    def __init__(self) -> None:
        apsw: Any = pytest.importorskip("apsw")
        self.count = 0
        counter = self

        class File(apsw.VFSFile):  # type: ignore[misc]  # apsw is Any where it is not installed
            def __init__(self, name: Any, flags: list[int]) -> None:
                super().__init__("", name, flags)
                self._name = name if isinstance(name, str) else name.filename()

            def xSync(self, flags: int) -> None:  # noqa: N802 SQLite's name
                counter.count += self._name.endswith("-wal")
                super().xSync(flags)

        class Disk(apsw.VFS):  # type: ignore[misc]  # as above
            def xOpen(self, name: Any, flags: list[int]) -> File:  # noqa: N802 SQLite's name
                return File(name, flags)

        self.disk = Disk("counting", "")


class SyncedDriver(GateDriver):
    """SQLite on such a disk, with a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.syncs = Syncs()
        self._apsw = importlib.import_module("tests.faults.vfs").ApswDriver("counting")

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        return Spied(self._apsw.connect(path, read_only=read_only), self, read_only=read_only)


async def synced(path: Path, durability: Any, work: Callable[[MessageLog, GateDriver], Any]) -> int:
    """How often something syncs, in a log that is there."""
    driver = SyncedDriver()
    async with msglog.open(path, durability=durability, driver=driver) as store:
        log = store.log("talk")
        await log.append_many([user("a"), user("b")])
        driver.syncs.count = 0
        await work(log, driver)
        return driver.syncs.count


async def one_append(log: MessageLog, _: GateDriver) -> None:
    await log.add("user", "x")


async def a_batch(log: MessageLog, _: GateDriver) -> None:
    await log.append_many([user("x")] * 500)


async def many_at_once(log: MessageLog, gate: GateDriver) -> None:
    gate.shut("BEGIN")
    tasks = [asyncio.ensure_future(log.add("user", "x")) for _ in range(CALLERS)]
    await asyncio.sleep(0)  # each of them comes as far as the queue
    await gate.arrived()
    gate.let_through()
    await asyncio.gather(*tasks)


@pytest.mark.parametrize("work", [one_append, a_batch, many_at_once])
async def test_a_group_is_synced_once_however_many_it_holds(path: Path, work: Any) -> None:
    assert await synced(path, "full", work) == 1


async def test_with_normal_durability_no_append_waits_for_the_disk(path: Path) -> None:
    assert await synced(path, "normal", many_at_once) == 0


# Reading


class CountedConnection:
    """A connection that counts the statements that it runs, the rows that it returns, and SQLite's steps to them."""

    def __init__(self, connection: DbApiConnection, driver: CountingDriver) -> None:
        self._connection = connection
        self._driver = driver
        connection._connection.set_progress_handler(self._step, 1)

    def _step(self) -> int:
        self._driver.steps += 1
        return 0

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        rows = self._connection.execute(sql, parameters)
        self._driver.statements += 1
        self._driver.rows += len(rows)
        return rows

    def executemany(self, sql: str, rows: Any) -> None:
        self._connection.executemany(sql, rows)

    def describe(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[Row]]:
        return self._connection.describe(sql, parameters)

    def close(self) -> None:
        self._connection.close()


class CountingDriver(SqliteDriver):
    """Counts what is read, while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.statements = self.rows = self.steps = 0

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        connection = super().connect(path, read_only=read_only)
        assert isinstance(connection, DbApiConnection)
        return CountedConnection(connection, self)


SIZES = (1000, 10_000)


@pytest.fixture
async def paths(tmp_path: Path) -> list[Path]:
    """A short log and a long one, each with a branch whose view has 200 entries in pieces."""
    made = []
    for size in SIZES:
        path = tmp_path / f"{size}.db"
        async with msglog.open(path, durability="normal") as store:
            log = store.log("talk")
            for _ in range(0, size, 500):
                await log.append_many([user("x")] * 500)
            short = await log.fork("short")
            ids = [message.entry_id for message in await log.last(400)]
            await short.commit((await short.history(last=400)).with_view(ids[::2]))
        made.append(path)
    return made


async def read(path: Path, branch: str, work: Callable[[MessageLog], Any]) -> tuple[int, int, int]:
    """Statements, rows and steps of opening a store and reading a log."""
    driver = CountingDriver()
    async with msglog.open(path, driver=driver) as store:
        await work(store.log("talk", branch))
    return driver.statements, driver.rows, driver.steps


READS: dict[str, tuple[str, Callable[[MessageLog], Any]]] = {
    "resuming a history": ("short", lambda log: log.history()),
    "the messages of a view": ("short", lambda log: log.all()),
    "the newest messages": ("main", lambda log: log.last(50)),
    "the newest part of a history": ("main", lambda log: log.history(last=50)),
    "one message": ("main", lambda log: log.get(500)),
    "counting": ("main", lambda log: log.count()),
    "catching up": ("main", lambda log: log.read(after=900, limit=50)),
}


@pytest.mark.parametrize("what", READS)
async def test_reading_goes_through_as_much_of_a_long_log_as_of_a_short_one(paths: list[Path], what: str) -> None:
    branch, work = READS[what]
    (*short, few), (*long, many) = [await read(path, branch, work) for path in paths]
    assert long == short
    assert many <= few * 1.02


async def test_resuming_reads_the_rows_of_the_view_and_few_more(paths: list[Path]) -> None:
    driver = CountingDriver()
    async with msglog.open(paths[1], driver=driver) as store:
        driver.statements = driver.rows = 0
        assert len(await store.log("talk", "short").history()) == 200
    assert driver.rows <= 200 + 20
    assert driver.statements <= 15
