"""A disk that loses power: a driver over apsw whose files remember what was synced. Run as a program.

    python -m tests.faults.disk DIRECTORY DURABILITY FAILING SEED

works on a store in DIRECTORY, and at random moments writes down what the disk may hold if the power goes: of
each file all that was synced, and of what was written since any part, in sectors. Of all syncs the share
FAILING reports an error, and leaves any part of what was to be synced unwritten for good, as Linux does. Each
of these disks is then opened as a store of its own. The last line tells what was found.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

import msglog
from msglog import Store
from msglog.errors import CommitUncertainError, MsgLogError, StoreIOError
from msglog.storage import wal
from msglog.storage.engine import Connection, DriverError, Row
from msglog.store import Durability

apsw: Any = importlib.import_module("apsw")

SECTOR = 512


class Content:
    """A file: what is synced, and the writes and truncations since, in order."""

    def __init__(self, synced: bytes) -> None:
        self.synced = synced
        self.pending: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        self.synced = self.after(self.pending)
        self.pending = []

    def lose(self, random: Random) -> None:
        """A sync that failed: what did not reach the disk is not tried again."""
        self.synced = self.after_a_crash(random)
        self.pending = []

    def after(self, changes: Iterable[tuple[int, bytes | None]]) -> bytes:
        data = bytearray(self.synced)
        for at, written in changes:
            if written is None:
                del data[at:]
            else:
                data.extend(bytes(max(0, at - len(data))))
                data[at : at + len(written)] = written
        return bytes(data)

    def after_a_crash(self, random: Random) -> bytes:
        """All that is synced, and any part of the rest."""
        kept: list[tuple[int, bytes | None]] = []
        share = random.choice([0.0, 0.5, 0.9, 1.0])
        for at, written in self.pending:
            if written is None:
                kept += [(at, None)] * (random.random() < share)
                continue
            for start in range(0, len(written), SECTOR):
                kept += [(at + start, written[start : start + SECTOR])] * (random.random() < share)
        return self.after(kept)


class Disk(apsw.VFS):  # type: ignore[misc]  # apsw is Any where it is not installed
    """Files whose contents are followed, and the moments at which the power may go."""

    def __init__(self, random: Random, failing: float) -> None:
        self.files: dict[str, Content] = {}
        self.failing = 0.0  # from the moment on that the store is made: `failing`
        self.share = failing
        self.lock = threading.RLock()
        self.moment: Callable[[], None] = lambda: None
        self.random = random
        super().__init__("disk", "")

    def xOpen(self, name: Any, flags: list[int]) -> File:  # noqa: N802 SQLite's name
        return File(self, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802, FBT001 SQLite's name
        with self.lock:
            self.files.pop(name, None)
            super().xDelete(name, sync)


class File(apsw.VFSFile):  # type: ignore[misc]  # as above
    """A file that tells its disk what is done to it."""

    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        path = name if isinstance(name, str) else name.filename()
        if path not in disk.files:
            disk.files[path] = Content(Path(path).read_bytes())
        self._content = disk.files[path]

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 SQLite's name
        with self._disk.lock:
            self._disk.moment()
            self._content.pending.append((offset, bytes(data)))
            super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802 SQLite's name
        with self._disk.lock:
            self._content.pending.append((size, None))
            super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 SQLite's name
        with self._disk.lock:
            self._disk.moment()
            super().xSync(flags)
            if self._disk.random.random() < self._disk.failing:
                self._content.lose(self._disk.random)
                failure = apsw.IOError("made to fail")
                failure.extendedresult = apsw.SQLITE_IOERR_FSYNC
                raise failure
            self._content.sync()
            self._disk.moment()

    def excepthook(self, kind: Any, error: Any, trace: Any) -> None:
        """Nobody needs to read of an error that was made."""


class ApswConnection:
    """A connection of apsw."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def _run(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except apsw.Error as error:
            codes = {**apsw.mapping_result_codes, **apsw.mapping_extended_result_codes}
            code = codes.get(getattr(error, "extendedresult", 0)) or codes.get(getattr(error, "result", 1))
            raise DriverError(str(code), str(error)) from error

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return cast("list[Row]", self._run(lambda: self._connection.execute(sql, parameters).fetchall()))

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._run(lambda: self._connection.executemany(sql, rows).fetchall())

    def describe(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[Row]]:
        cursor = self._run(lambda: self._connection.execute(sql, parameters))
        return [name for name, _ in cursor.getdescription()], cursor.fetchall()

    def close(self) -> None:
        self._run(self._connection.close)


class ApswDriver:
    """SQLite through apsw, on a disk that is followed."""

    name = "apsw"
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))

    def __init__(self, disk: str = "disk") -> None:
        self._disk = disk

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
        return ApswConnection(apsw.Connection(path, flags=flags, vfs=self._disk))


def follow_rewriting(disk: Disk) -> None:
    """The store writes its log again past SQLite: the disk sees that too. It succeeds, for once.

    Where the second attempt fails as well as the first, closing the file is left to SQLite, which trusts the log.
    """
    rewrite = wal.rewrite

    def followed(path: str) -> None:
        with disk.lock:
            content = disk.files.get(f"{path}-wal")
            rewrite(path)
            if content is not None:
                content.pending = [(0, Path(f"{path}-wal").read_bytes())]
                content.sync()

    wal.rewrite = followed


class Crashes:
    """What the disk may hold after a loss of power, at some moments."""

    def __init__(self, disk: Disk, directory: Path) -> None:
        self._disk = disk
        self._directory = directory
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.uncertain: list[str] = []
        self.taken: list[tuple[Path, list[str], list[str]]] = []

    def perhaps(self) -> None:
        if self._disk.random.random() < 0.1:
            self.take()

    def take(self) -> None:
        with self._disk.lock:
            self._take()

    def _take(self) -> None:
        folder = self._directory / f"crash-{len(self.taken)}"
        folder.mkdir()
        for name, content in self._disk.files.items():
            (folder / Path(name).name).write_bytes(content.after_a_crash(self._disk.random))
        self.taken.append((folder / "agent.db", list(self.acknowledged), list(self.refused)))


class Work:
    """Appends, some of them together, with an edit and a redaction now and then."""

    def __init__(self, path: Path, durability: Durability, crashes: Crashes, disk: Disk) -> None:
        self._path = path
        self._durability: Durability = durability
        self._crashes = crashes
        self._disk = disk

    async def open(self) -> Store:
        while True:  # a disk that fails may fail here as well
            with contextlib.suppress(MsgLogError):
                return await msglog.open(self._path, durability=self._durability, driver=ApswDriver())

    async def append(self, store: Store, branch: str, entry_id: str, size: int) -> None:
        told = self._crashes.acknowledged
        try:
            await store.log("talk", branch).add("user", "x" * size, id=entry_id)
        except CommitUncertainError:
            told = self._crashes.uncertain
        except StoreIOError:
            told = self._crashes.refused
        told.append(entry_id)

    async def run(self) -> None:
        disk, random = self._disk, self._disk.random
        store = await self.open()
        await self.append(store, "main", "first", 10)
        await store.log("talk").fork("side")
        for content in disk.files.values():
            content.sync()  # how the file was made is another matter
        disk.moment, disk.failing = self._crashes.perhaps, disk.share
        for turn in range(25):
            names = [f"e{turn}-{i}" for i in range(random.choice([1, 1, 5]))]
            size = random.choice([10, 1000, 20000])
            await asyncio.gather(*(self.append(store, random.choice(["main", "side"]), name, size) for name in names))
            self._crashes.take()
            with contextlib.suppress(StoreIOError, CommitUncertainError):
                if turn % 10 == 5:
                    await store.log("talk").edit({"op": "remove", "id": (await store.log("talk").all())[0].entry_id})
                if turn % 10 == 8:
                    await store.log("talk").redact(random.choice(self._crashes.acknowledged))
            if self._crashes.uncertain or turn % 7 == 6:
                await store.close()
                store = await self.open()
                await self.settle(store)
        disk.moment, disk.failing = lambda: None, 0.0
        await store.close()

    async def settle(self, store: Store) -> None:
        """What was uncertain is certain once the store is open again."""
        for entry_id in self._crashes.uncertain:
            stored = await store.log("talk").find(entry_id) is not None
            (self._crashes.acknowledged if stored else self._crashes.refused).append(entry_id)
        self._crashes.uncertain.clear()


async def wrong_with(path: Path, acknowledged: list[str], refused: list[str], durability: Durability) -> list[str]:
    """What is not as it should be in a file that lost power: `normal` may lose the last of what was acknowledged."""
    async with msglog.open(path, driver=ApswDriver()) as store:
        report = await store.verify()
        stored = {message.entry_id for message in await store.log("talk").raw.all()}
        kept = [entry_id in stored for entry_id in acknowledged]
        owed = kept if durability == "full" else kept[: len(kept) - kept[::-1].index(True)]
        await store.log("talk").add("user", "goes on")
        lost = [f"lost {entry_id}" for entry_id, there in zip(acknowledged, owed, strict=False) if not there]
        back = [f"{entry_id} was refused and came back" for entry_id in refused if entry_id in stored]
        return [*map(str, report.problems), *lost, *back]


def main(directory: Path, durability: Durability, failing: float, seed: int) -> None:
    disk = Disk(Random(seed), failing)
    crashes = Crashes(disk, directory)
    follow_rewriting(disk)
    live = directory / "live"
    live.mkdir()
    asyncio.run(Work(live / "agent.db", durability, crashes, disk).run())
    wrong = {}
    for path, acknowledged, refused in crashes.taken:
        disk.files.clear()
        found = asyncio.run(wrong_with(path, acknowledged, refused, durability))
        if found:
            wrong[path.parent.name] = found
    counts = {"acknowledged": len(crashes.acknowledged), "refused": len(crashes.refused)}
    print(json.dumps({"crashes": len(crashes.taken), "wrong": wrong, **counts}))  # noqa: T201 what the program is for


if __name__ == "__main__":
    main(Path(sys.argv[1]), cast("Durability", sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
