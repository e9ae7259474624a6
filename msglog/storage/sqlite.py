"""SQLite through a DB-API module: the standard library's `sqlite3`, or one that the caller chose."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any
from urllib.parse import quote

from msglog.storage import forks
from msglog.storage.engine import Connection, DriverError, Row


class DbApiConnection:
    """A connection of a DB-API module of SQLite."""

    __slots__ = ("__weakref__", "_connection", "_errors", "_execute", "_executemany", "_may_write", "lock")

    def __init__(self, connection: Any, error: type[Exception], *, may_write: bool) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._executemany = connection.executemany
        self._errors = (error, OverflowError, UnicodeError)
        self._may_write = may_write
        self.lock = threading.Lock()

    @property
    def writing(self) -> bool:
        """Whether it is in a transaction that may write."""
        return self._may_write and self._connection.in_transaction

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return all its rows."""
        with self.lock:
            try:
                return self._execute(sql, parameters).fetchall()  # type: ignore[no-any-return]
            except self._errors as error:
                raise _translated(error) from _shown(error)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each of `rows`."""
        with self.lock:
            try:
                self._executemany(sql, rows)
            except self._errors as error:
                raise _translated(error) from _shown(error)

    def describe(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[Row]]:
        """Run one statement and return the names of its columns and its rows."""
        with self.lock:
            try:
                cursor = self._execute(sql, parameters)
                try:
                    return [column[0] for column in cursor.description or ()], cursor.fetchall()
                finally:
                    cursor.close()  # an error that somebody keeps must not keep the statement, and so the file, open
            except self._errors as error:
                raise _translated(error) from _shown(error)

    def close(self) -> None:
        """Close it."""
        with self.lock:
            self._may_write = False
            try:
                self._connection.close()
            except self._errors as error:
                raise _translated(error) from _shown(error)
        with forks.changing() as connections:
            connections.discard(self)


def _translated(error: Exception) -> DriverError:
    code = getattr(error, "sqlite_errorname", None)
    if code is not None:
        return DriverError(code, str(error))
    # Raised by the module itself.
    if not _shown(error):
        return DriverError("SQLITE_CORRUPT", "a text that is not UTF-8")
    if isinstance(error, (OverflowError, UnicodeError)):
        return DriverError("SQLITE_MISMATCH", "a value that SQLite cannot hold")
    return DriverError("SQLITE_MISUSE", str(error))  # a closed connection, two statements at once


def _shown(error: Exception) -> Exception | None:
    """The error as a cause to be shown; None where it quotes what is stored."""
    quotes = isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode to UTF-8")
    return None if quotes else error


class SqliteDriver:
    """SQLite through a DB-API module."""

    def __init__(self, module: ModuleType | Any = sqlite3) -> None:
        self.module = module
        self.name: str = module.__name__
        self.version: tuple[int, ...] = tuple(module.sqlite_version_info)

    @property
    def is_standard(self) -> bool:
        """Whether this is the library that `import sqlite3` gives."""
        return self.module is sqlite3

    def connect(self, path: str, *, read_only: bool = False) -> Connection:
        """Open a file that exists. Connections never wait for locks by themselves: the writer does."""
        uri = f"file:{quote(path)}?mode={'ro' if read_only else 'rw'}"
        with forks.changing() as connections:
            try:
                opened = self.module.connect(
                    uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=64
                )
            except self.module.Error as error:
                raise _translated(error) from error
            connection = DbApiConnection(opened, self.module.Error, may_write=not read_only)
            connections.add(connection)
        return connection
