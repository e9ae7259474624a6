"""Other programs' SQLite files, read and left as they are: not written to, not locked, nothing in them is run.

A file without a write-ahead log is opened as immutable, so that not even a lock is taken, and what was read of it
is handed on only if the file is still what it was. One with a write-ahead log is read through it as any reader does.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any
from urllib.parse import quote

from msglog.errors import SourceError

PAGE = 500
"""Rows that are read at once."""

UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a broken file raises: the names in it, which SQLite puts into its errors, may be no text."""


class Database:
    """A file that is open for reading. `tables` has the columns of every plain table."""

    def __init__(self, path: str, connection: sqlite3.Connection, *, immutable: bool) -> None:
        self.path = path
        self._connection = connection
        self._state = _state(path) if immutable else None
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")  # one snapshot for all that is read
        self.tables: dict[str, set[str]] = {}
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
        for (name,) in names.fetchall():
            columns = connection.execute("SELECT name FROM pragma_table_info(?)", (name,)).fetchall()
            self.tables[name] = {column for (column,) in columns}

    def with_columns(self, *columns: str) -> list[str]:
        """The tables that have these columns."""
        return sorted(name for name, known in self.tables.items() if known.issuperset(columns))

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, a page at a time. Text that is no UTF-8 comes as bytes."""
        try:
            with closing(self._connection.execute(query, parameters)) as cursor:
                while page := cursor.fetchmany(PAGE):
                    if self._state is not None and _state(self.path) != self._state:
                        raise SourceError(self.path, "it was changed while it was read; run the import again")
                    yield from page
        except UNREADABLE as error:
            raise SourceError(self.path, f"SQLite cannot read it: {error}") from error

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(next(self.rows(f"SELECT count(*) FROM {quoted(table)}"))[0])

    def sessions(self, table: str) -> list[tuple[Any, int]]:
        """The sessions of a table of rows with `id` and `session_id`, oldest first, each with its first row."""
        rows = self.rows(f"SELECT session_id, min(id) AS first FROM {quoted(table)} GROUP BY session_id ORDER BY first")
        return [(session, first) for session, first in rows]

    def in_session(self, table: str, columns: str, first: int) -> Iterator[tuple[Any, ...]]:
        """The rows of the session that begins with the row `first`: its name may be none that can be asked for."""
        name = quoted(table)
        same = f"session_id IS (SELECT session_id FROM {name} WHERE id = ?)"
        return self.rows(f"SELECT {columns} FROM {name} WHERE {same} ORDER BY id", (first,))


def quoted(name: str) -> str:
    """The name of a table or column as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _state(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns, _size(f"{path}-wal")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _text(raw: bytes) -> Any:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw


@contextmanager
def opened(path: str) -> Iterator[Database | None]:
    """The file, open for reading; None where it is no SQLite file."""
    with ExitStack() as stack:
        try:
            database = _opened(path, stack)
        except UNREADABLE as error:
            if getattr(error, "sqlite_errorname", "") != "SQLITE_NOTADB":
                raise SourceError(path, f"SQLite cannot read it: {error}") from error
            database = None
        yield database


def _opened(path: str, stack: ExitStack) -> Database:
    real = os.path.realpath(path)  # what lies beside the file lies beside its real name
    immutable = not _size(f"{real}-wal")
    if immutable and _size(f"{real}-journal"):
        raise SourceError(path, "a transaction in it is unfinished; let its own program open it once")
    if not immutable and not os.path.exists(f"{real}-shm"):
        real = _copied(real, stack)  # nobody has it open, and to read its log is to write beside it
    connection = sqlite3.connect(
        f"file:{quote(real)}?mode=ro{'&immutable=1' if immutable else ''}", uri=True, isolation_level=None
    )
    stack.enter_context(closing(connection))
    connection.text_factory = _text
    return Database(real, connection, immutable=immutable)


def _copied(path: str, stack: ExitStack) -> str:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="msglog-import-"))
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", os.path.join(folder, f"source{end}"))
    return os.path.join(folder, "source")
