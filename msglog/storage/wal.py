"""The write-ahead log: checkpoints of it, and its file, where what SQLite does with it is not enough."""

from __future__ import annotations

import os
from contextlib import suppress

from msglog.storage.engine import Connection, Driver, DriverError, dismiss
from msglog.storage.requests import Checkpointed

_PIECE = 2**20


def checkpoint(connection: Connection, mode: str, wait: float) -> Checkpointed:
    """A checkpoint, which waits so many seconds for readers. Raises `DriverError`."""
    connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
    try:
        busy, frames, moved = connection.execute(f"PRAGMA wal_checkpoint({mode})")[0]
    finally:
        connection.execute("PRAGMA busy_timeout = 0")
    return Checkpointed(not busy and frames == moved, max(0, frames), max(0, moved))


def rewrite(path: str) -> None:
    """Write the log of the store at `path` again, and sync it. The caller holds the store's write lock.

    A sync that failed may have left what it was to write in memory alone, for good: the next one finds nothing
    to do and succeeds (https://wiki.postgresql.org/wiki/Fsync_Errors). SQLite would rely on it all the same.
    The file bears no locks that opening it here could drop; those are on the store's file and on its `-shm`.
    Raises `DriverError`.
    """
    try:
        descriptor = os.open(f"{path}-wal", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    except OSError as error:
        raise DriverError("SQLITE_IOERR_ACCESS", f"write-ahead log: {error.strerror}") from error
    try:
        at = 0
        while data := os.pread(descriptor, _PIECE, at):
            at += os.pwrite(descriptor, data, at)
        os.fsync(descriptor)
    except OSError as error:
        raise DriverError("SQLITE_IOERR_FSYNC", f"write-ahead log: {error.strerror}") from error
    finally:
        os.close(descriptor)


def leave(driver: Driver, path: str, *connections: Connection | None) -> None:
    """Close connections without the checkpoint that the last one makes, which would trust the log and remove it."""
    last = None
    with suppress(DriverError):
        last = driver.connect(path, read_only=True)  # one that may only read makes none
        last.execute("SELECT count(*) FROM sqlite_master")
    for connection in (*connections, last):
        dismiss(connection)
