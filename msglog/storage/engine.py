"""What the storage asks of a database library, and what its failures become.

All access to a file goes through these two protocols, so that tests can put a faulty disk under them.
Statements and their parameters are plain; rows are tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from msglog.errors import (
    CannotOpenError,
    CorruptStoreError,
    MsgLogError,
    NotAStoreError,
    ReadOnlyError,
    SqlError,
    StoreBusyError,
    StoreFullError,
    StoreIOError,
)

Row: TypeAlias = tuple[Any, ...]


class DriverError(Exception):
    """A database library refused: `code` is SQLite's name for why, such as `SQLITE_BUSY`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message

    @property
    def primary(self) -> str:
        """The primary code: `SQLITE_IOERR` of `SQLITE_IOERR_FSYNC`."""
        return "_".join(self.code.split("_")[:2])


class Connection(Protocol):
    """An open connection in autocommit mode. One thread uses it at a time. Failures are `DriverError`."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return all its rows."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each of `rows`."""
        ...

    def describe(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[Row]]:
        """Run one statement and return the names of its columns and its rows."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


def dismiss(connection: Connection | None) -> None:
    """Close a connection that has done its work, or failed. That closing fails changes nothing of either."""
    if connection is not None:
        with suppress(DriverError):
            connection.close()


class Driver(Protocol):
    """A database library."""

    name: str
    version: tuple[int, ...]

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        """Open a file that exists."""
        ...


def explained(error: DriverError, path: str, waited: float = 0.0) -> MsgLogError:
    """The error that a caller sees for a driver's; the driver's is its cause."""
    made = _explained(error, path, waited)
    made.__cause__ = error
    return made


def _explained(error: DriverError, path: str, waited: float) -> MsgLogError:
    primary = error.primary
    if primary in ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"):
        return StoreBusyError(path, waited)
    if primary == "SQLITE_FULL":
        return StoreFullError(path)
    if primary in ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"):
        return ReadOnlyError(path, f"the file or its directory is not writable ({error.code})")
    if primary == "SQLITE_CANTOPEN":
        return CannotOpenError(path, "the file, or one beside it, cannot be opened; check its directory and rights")
    if primary == "SQLITE_NOTADB":
        return NotAStoreError(path, "it is not an SQLite file")
    if primary == "SQLITE_CORRUPT":
        return CorruptStoreError(path, "the file", f"SQLite finds it malformed ({error.code})")
    if primary == "SQLITE_IOERR":
        return StoreIOError(path, error.code)
    return SqlError(path, error.message)
