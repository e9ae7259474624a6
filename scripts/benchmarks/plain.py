"""Plain `sqlite3`: with the statements, tables and triggers of a store, and as users write it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from msglog.storage import statements as sql
from msglog.storage.rows import STORED
from scripts.benchmarks.measure import Figures, seconds
from scripts.benchmarks.setting import Level, Setting
from scripts.benchmarks.workload import MESSAGE, TEXT

JSON_COLUMNS = [STORED.index(name) for name in ("parts", "tool_calls", "sources", "meta", "extra")]
AT = STORED.index("at")


@contextmanager
def connected(setting: Setting, path: str, level: Level = "full") -> Iterator[Any]:
    """A connection of the library that msglog uses too, set as msglog sets its own."""
    connection = setting.module.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {level}")
        yield connection
    finally:
        connection.close()


@contextmanager
def empty_log(setting: Setting, level: Level) -> Iterator[Any]:
    """A connection to a new store with one empty log."""
    path = setting.path()
    with setting.store(path):
        pass
    with connected(setting, path, level) as connection:
        zero = bytes(16)
        root = (1, 0, "r0", None, "main", None, None, 0, "[]", "[]", 0, 0, None, 0, zero)
        connection.execute(sql.INSERT_LOG, (zero, "log", 0, 0, 1, zero)).fetchall()
        connection.execute(sql.INSERT_REVISION, root)
        connection.execute(sql.INSERT_BRANCH, (1, "main", 0, None, 0))
        yield connection


def entry_row(seq: int) -> tuple[Any, ...]:
    """A row of entries."""
    hashed = bytes(16)
    content = ("turn", "user", None, TEXT, None, None, None, None, None, None)
    return (seq, 1, seq, f"{seq:016d}", seq, *content, seq, hashed, hashed, hashed, None, None)


def revision_row(seq: int) -> tuple[Any, ...]:
    """The row of the revision that appended an entry."""
    tail = f"[[0,1,{seq}]]"
    return (1, seq, f"{seq:016d}", None, "main", seq - 1, None, 0, None, tail, seq, seq, None, seq, bytes(16))


def same_statements(setting: Setting, level: Level) -> Figures:
    """One append after another, each a transaction of the statements that msglog runs."""
    with empty_log(setting, level) as connection:

        def append(seq: int) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(sql.INSERT_ENTRY, entry_row(seq))
            connection.execute(sql.INSERT_REVISION, revision_row(seq))
            connection.execute(sql.UPDATE_LOG, (seq, seq + 1, bytes(16), 1))
            connection.execute(sql.UPDATE_BRANCH, (seq, 1, "main"))
            connection.execute("COMMIT")

        return _each(append, setting.sizes.appends)


SCHEMA = "CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT NOT NULL, message TEXT NOT NULL, at REAL)"
INDEX = "CREATE INDEX messages_session ON messages (session, id)"
INSERT = "INSERT INTO messages (session, message, at) VALUES (?, ?, ?)"
SELECT = "SELECT message FROM messages WHERE session = ? ORDER BY id"


def one_insert(setting: Setting, level: Level) -> Figures:
    """One append after another, as users write it: one table, one INSERT of the JSON a transaction."""
    with connected(setting, setting.path(), level) as connection:
        connection.execute(SCHEMA)
        connection.execute(INDEX)
        return _each(
            lambda _: connection.execute(INSERT, ("log", json.dumps(MESSAGE), time.time())), setting.sizes.appends
        )


def _each(append: Any, count: int) -> Figures:
    append(1)
    started = time.perf_counter()
    for seq in range(2, count + 2):
        append(seq)
    taken = time.perf_counter() - started
    return {"seconds": taken / count, "rate": count / taken}


def batch(setting: Setting) -> Figures:
    """`executemany` of a batch, with the JSON of each message encoded; seconds a message."""
    size = setting.sizes.batch
    with empty_log(setting, "full") as connection:

        def work() -> None:
            connection.execute("BEGIN IMMEDIATE")
            rows = []
            for seq in range(1, size + 1):
                json.dumps(MESSAGE)
                rows.append(entry_row(seq))
            connection.executemany(sql.INSERT_ENTRY, rows)
            connection.execute("COMMIT")

        return seconds(work, per=size)


def decoded(row: tuple[Any, ...]) -> dict[str, Any]:
    """A row of the `STORED` columns as a dict, with its JSON and its time read."""
    values = list(row)
    for place in JSON_COLUMNS:
        if values[place] is not None:
            values[place] = json.loads(values[place])
    values[AT] = datetime.fromtimestamp(values[AT] / 1e6, UTC)
    return dict(zip(STORED, values, strict=True))


def read_all(setting: Setting, path: str, times: int) -> Figures:
    """Read and decode the rows of a log; seconds of the whole."""
    with connected(setting, path) as connection:
        last = connection.execute("SELECT entry_count FROM logs").fetchone()[0]
        return seconds(
            lambda: [decoded(row) for row in connection.execute(sql.ENTRIES_BETWEEN, (1, 1, last)).fetchall()], times
        )


def last_fifty(setting: Setting, path: str) -> Figures:
    """The bare SELECT of a log's last fifty rows."""
    with connected(setting, path) as connection:
        last = connection.execute("SELECT entry_count FROM logs").fetchone()[0]
        return seconds(lambda: connection.execute(sql.ENTRIES_BETWEEN, (1, last - 49, last)).fetchall(), 100)
