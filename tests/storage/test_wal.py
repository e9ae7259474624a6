"""Writing the log again, after a sync that failed: the same bytes, and nobody's lock is lost by it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from msglog.storage import wal
from msglog.storage.engine import DriverError


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose write-ahead log holds something, and which holds the write lock."""
    with closing(sqlite3.connect(path, isolation_level=None)) as opened:
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("CREATE TABLE t (x)")
        opened.execute("BEGIN IMMEDIATE")
        yield opened


def test_the_log_holds_the_same_afterwards(connection: sqlite3.Connection, path: Path) -> None:
    log = Path(f"{path}-wal")
    before = log.read_bytes()
    wal.rewrite(str(path))
    assert log.read_bytes() == before
    connection.execute("INSERT INTO t VALUES (1)")
    connection.execute("COMMIT")
    assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]


OTHER = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"


def test_the_write_lock_is_kept_against_other_processes(connection: sqlite3.Connection, path: Path) -> None:
    wal.rewrite(str(path))
    refused = subprocess.run([sys.executable, "-c", OTHER, path], capture_output=True, text=True, check=False)
    assert "database is locked" in refused.stderr
    connection.execute("ROLLBACK")
    assert subprocess.run([sys.executable, "-c", OTHER, path], check=True).returncode == 0


def test_where_there_is_no_log_there_is_nothing_to_do(path: Path) -> None:
    wal.rewrite(str(path))
    assert list(path.parent.iterdir()) == []


def test_what_cannot_be_written_is_an_io_error(path: Path) -> None:
    Path(f"{path}-wal").mkdir()
    with pytest.raises(DriverError) as refusal:
        wal.rewrite(str(path))
    assert refusal.value.primary == "SQLITE_IOERR"
