"""A disk between SQLite and the system, and a driver that goes through it: apsw, which brings an SQLite of its own.

Every call that SQLite makes of its file system comes past `Faults`, which lets the n-th one fail.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any, Literal, cast

from msglog.storage import wal
from msglog.storage.engine import Connection, DriverError, Row

apsw: Any = importlib.import_module("apsw")

Trouble = Literal["io", "full"]

IO_CODES = {
    "xAccess": "SQLITE_IOERR_ACCESS",
    "xCheckReservedLock": "SQLITE_IOERR_CHECKRESERVEDLOCK",
    "xDelete": "SQLITE_IOERR_DELETE",
    "xFileSize": "SQLITE_IOERR_FSTAT",
    "xLock": "SQLITE_IOERR_LOCK",
    "xOpen": "SQLITE_CANTOPEN",
    "xRead": "SQLITE_IOERR_READ",
    "xSync": "SQLITE_IOERR_FSYNC",
    "xTruncate": "SQLITE_IOERR_TRUNCATE",
    "xWrite": "SQLITE_IOERR_WRITE",
}
"""What each call says when the disk does not do it."""

FULL_CODES = {"xOpen": "SQLITE_CANTOPEN", "xSync": "SQLITE_IOERR_FSYNC", "xWrite": "SQLITE_FULL"}
"""The calls that need room, and what they say where there is none."""


class Faults:
    """Lets the n-th call (from 0) after it was armed fail, once or from then on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._codes: dict[str, str] = {}
        self._at = 0
        self._lasting = False
        self._random = Random()
        self.calls = 0
        self.failed: list[str] = []

    def arm(self, at: int, trouble: Trouble = "io", *, lasting: bool = False, seed: int = 0) -> None:
        with self._lock:
            self._codes = IO_CODES if trouble == "io" else FULL_CODES
            self._at, self._lasting, self._random = at, lasting, Random(seed)
            self.calls, self.failed = 0, []

    def disarm(self) -> None:
        with self._lock:
            self._codes = {}

    def code(self, call: str, file: str) -> str | None:
        """Why this call fails; None where it does not."""
        with self._lock:
            code = self._codes.get(call)
            if code is None:
                return None
            due = self.calls == self._at or (self._lasting and self.calls > self._at)
            self.calls += 1
            if not due:
                return None
            self.failed.append(f"{call} {file.rpartition('/')[2]}")
            return code

    def torn(self, data: bytes) -> bytes:
        """What of a write that fails comes to be written."""
        return data[: self._random.randrange(len(data) + 1)]


def failing(code: str) -> Exception:
    """The error that SQLite is to see."""
    kind = {"SQLITE_CANTOPEN": apsw.CantOpenError, "SQLITE_FULL": apsw.FullError}.get(code, apsw.IOError)
    error: Exception = kind("made to fail")
    error.extendedresult = getattr(apsw, code)  # type: ignore[attr-defined]
    return error


class FaultyDisk(apsw.VFS):  # type: ignore[misc]  # apsw is Any where it is not installed
    """The system's files, whose calls may fail."""

    _numbers = itertools.count()

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.name = f"faulty-{next(self._numbers)}"
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:  # noqa: N802 SQLite's name
        return FaultyFile(self.faults, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802, FBT001 SQLite's name
        self._checked("xDelete", name)
        super().xDelete(name, sync)

    def xAccess(self, name: str, flags: int) -> bool:  # noqa: N802 SQLite's name
        self._checked("xAccess", name)
        return bool(super().xAccess(name, flags))

    def _checked(self, call: str, name: str) -> None:
        code = self.faults.code(call, name)
        if code is not None:
            raise failing(code)

    def excepthook(self, kind: Any, error: Any, trace: Any) -> None:
        """Nobody needs to read of an error that was made."""


class FaultyFile(apsw.VFSFile):  # type: ignore[misc]  # as above
    """A file whose calls may fail."""

    def __init__(self, faults: Faults, name: Any, flags: list[int]) -> None:
        self._faults = faults
        self._name = name if isinstance(name, str) or name is None else name.filename()
        self._checked("xOpen")
        super().__init__("", name, flags)

    def _checked(self, call: str) -> None:
        code = self._faults.code(call, self._name or "temporary")
        if code is not None:
            raise failing(code)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 SQLite's name
        self._checked("xRead")
        return cast("bytes", super().xRead(amount, offset))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 SQLite's name
        code = self._faults.code("xWrite", self._name or "temporary")
        if code is not None:
            super().xWrite(self._faults.torn(bytes(data)), offset)
            raise failing(code)
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802 SQLite's name
        self._checked("xTruncate")
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 SQLite's name
        self._checked("xSync")
        super().xSync(flags)

    def xFileSize(self) -> int:  # noqa: N802 SQLite's name
        self._checked("xFileSize")
        return int(super().xFileSize())

    def xLock(self, level: int) -> None:  # noqa: N802 SQLite's name
        self._checked("xLock")
        super().xLock(level)

    def xCheckReservedLock(self) -> bool:  # noqa: N802 SQLite's name
        self._checked("xCheckReservedLock")
        return bool(super().xCheckReservedLock())

    def excepthook(self, kind: Any, error: Any, trace: Any) -> None:
        """As above."""


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
    """SQLite through apsw, on a disk of this name."""

    name = "apsw"
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))

    def __init__(self, disk: str) -> None:
        self._disk = disk

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
        try:
            return ApswConnection(apsw.Connection(path, flags=flags, vfs=self._disk))
        except apsw.Error as error:
            raise DriverError("SQLITE_CANTOPEN", str(error)) from error


@contextlib.contextmanager
def rewriting(rewrite: Callable[[str], None]) -> Iterator[None]:
    """Have the write-ahead log written again by another function: the store does that past SQLite."""
    original = wal.rewrite
    vars(wal).update(rewrite=rewrite)
    try:
        yield
    finally:
        vars(wal).update(rewrite=original)


@contextlib.contextmanager
def faulty_disk() -> Iterator[tuple[Faults, ApswDriver]]:
    """A disk that may be made to fail, and the driver on it."""
    faults = Faults()
    disk = FaultyDisk(faults)
    original = wal.rewrite

    def rewrite(path: str) -> None:
        code = faults.code("xSync", f"{path}-wal")
        if code is not None:
            raise DriverError(code, "made to fail")
        original(path)

    try:
        with rewriting(rewrite):
            yield faults, ApswDriver(disk.name)
    finally:
        disk.unregister()
