"""A disk that loses power: files, below apsw, that remember what was synced and what was only written since."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from msglog.storage import wal
from msglog.storage.engine import DriverError
from tests.faults.vfs import apsw, failing, rewriting

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
        """A sync that failed: what did not reach the disk is not tried again. Sizes are the file system's: they do."""
        self.synced = self.after_a_crash(random, sizes=True)
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

    def after_a_crash(self, random: Random, *, sizes: bool = False) -> bytes:
        """All that is synced, and any part of the rest; with `sizes`, each change of the file's size."""
        kept: list[tuple[int, bytes | None]] = []
        share = random.choice([0.0, 0.5, 0.9, 1.0])
        for at, written in self.pending:
            if written is None:
                kept += [(at, None)] * (sizes or random.random() < share)
                continue
            for start in range(0, len(written), SECTOR):
                kept += [(at + start, written[start : start + SECTOR])] * (random.random() < share)
        return self.after(kept)


class Disk(apsw.VFS):  # type: ignore[misc]  # apsw is Any where it is not installed
    """Files whose contents are followed, and the moments at which the power may go."""

    def __init__(self, random: Random) -> None:
        self.files: dict[str, Content] = {}
        self.failing = 0.0
        """The share of all syncs that fails."""
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
        if name is None:  # a temporary file is gone after a crash
            self._content = Content(b"")
            return
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
                raise failing("SQLITE_IOERR_FSYNC")
            self._content.sync()
            self._disk.moment()

    def excepthook(self, kind: Any, error: Any, trace: Any) -> None:
        """Nobody needs to read of an error that was made."""


@contextlib.contextmanager
def followed_rewriting(disk: Disk) -> Iterator[None]:
    """The store writes its log again past SQLite: the disk sees that too, and may fail to sync it."""
    rewrite = wal.rewrite

    def followed(path: str) -> None:
        with disk.lock:
            content = disk.files.get(f"{path}-wal")
            rewrite(path)
            if content is None:
                return
            content.pending = [(0, Path(f"{path}-wal").read_bytes())]
            if disk.random.random() < disk.failing:
                content.lose(disk.random)
                raise DriverError("SQLITE_IOERR_FSYNC", "made to fail")
            content.sync()

    with rewriting(followed):
        yield
