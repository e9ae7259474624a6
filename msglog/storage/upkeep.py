"""What the writer does to the file between transactions: checkpoints, and what an erasure leaves to be done."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from msglog.storage import statements as sql
from msglog.storage import wal
from msglog.storage.engine import Connection, DriverError
from msglog.storage.erasure import ERASURE, IN_FILE, IN_LOG
from msglog.storage.job import Job
from msglog.storage.requests import Checkpoint, Checkpointed, PurgeReceipt, RedactReceipt

WAL_PAGES = 1000
"""About so many pages in the write-ahead log call for a checkpoint."""
WAL_BYTES = 8 * 2**20
"""A write-ahead log of this size calls for one that waits for readers."""

REWRITE_PAUSE = 60.0
"""Seconds until a rewrite of the file that failed is tried again."""
REWRITE_WAIT = 1.0
"""Seconds that a checkpoint after a rewrite that was asked for waits for readers."""


class Upkeep:
    """Keeps a file's write-ahead log small, and finishes erasures. The writer calls it at its turn."""

    def __init__(self, connected: Callable[[], Connection]) -> None:
        self._connected = connected
        self.wal_size = 0
        self.doubtful = False  # a sync failed: what it was to write may be in memory alone
        self._pages = 0
        self._tried_at = 0
        self._erasing = False  # what was erased may still lie in the write-ahead log
        self._rewriting = False  # … and in the file
        self._rewrite_at = 0.0

    def grew(self, pages: int) -> None:
        """About so many pages went into the write-ahead log."""
        self._pages += pages

    def is_due(self) -> bool:
        """Whether there is something to do."""
        erasing = self._erasing and (not self._rewriting or time.monotonic() >= self._rewrite_at)
        return erasing or self._pages >= WAL_PAGES or self.wal_size > WAL_BYTES

    def do(self) -> None:
        """PASSIVE from time to time; one that waits for readers where the log has grown large all the same."""
        if self._erasing:
            self._erase(0)
        if self._pages >= WAL_PAGES:
            self._pages = 0
            self._checkpoint("PASSIVE", 0)
        size = self.wal_size
        if size <= WAL_BYTES:
            self._tried_at = 0
        elif size >= self._tried_at + 2**20:
            self._tried_at = size
            if self._checkpoint("TRUNCATE", 0.02 if size <= 4 * WAL_BYTES else 0.5):
                self._tried_at = 0

    def carry_out(self, request: Checkpoint) -> Checkpointed:
        """A checkpoint that was asked for. The group's transaction, which is empty, ends before it."""
        connection = self._connected()
        connection.execute("ROLLBACK")
        try:
            if not request.rewrite:
                return wal.checkpoint(connection, "PASSIVE", 0)
            self._rewrite()
            done = wal.checkpoint(connection, "TRUNCATE", REWRITE_WAIT)
        except DriverError as error:
            self._note(error)
            raise
        if done.complete and self._erasing:
            self._erase(0)  # there is nothing left to do but to say so
        return done

    # Erasure

    def see_erasure(self, connection: Connection) -> None:
        """Learn whether an erasure is unfinished."""
        mark = connection.execute(sql.MARK, (ERASURE,))
        self._erasing, self._rewriting = bool(mark), bool(mark) and mark[0][0] == IN_FILE

    def finish_erasure(self, jobs: Iterable[Job]) -> None:
        """Take what was erased out of the write-ahead log, and say in the receipts whether that is done."""
        self._rewrite_at = 0.0
        try:
            self.see_erasure(self._connected())
            complete = self._erase(0.5)
        except DriverError:  # it is committed all the same, and its mark says that something is left to do
            self._erasing = self._rewriting = True
            complete = False
        for job in jobs:
            if isinstance(job.result, (RedactReceipt, PurgeReceipt)):
                job.result = replace(job.result, complete=complete)

    def _erase(self, wait: float) -> bool:
        """Write the file anew where that is due, and empty the write-ahead log; whether nothing erased is left."""
        if self._rewriting and time.monotonic() >= self._rewrite_at:
            self._rewrite_at = time.monotonic() + REWRITE_PAUSE
            with contextlib.suppress(DriverError):
                self._rewrite()
        if self._rewriting:
            return False
        self._erasing = not self._checkpoint("TRUNCATE", wait)
        if not self._erasing:
            with contextlib.suppress(DriverError):
                self._connected().execute("DELETE FROM marks WHERE name = ?", (ERASURE,))
        return not self._erasing

    def _rewrite(self) -> None:
        """Write the file anew: without free space, and without what was erased."""
        self._connected().execute("VACUUM")
        self._connected().execute("UPDATE marks SET value = ? WHERE name = ?", (IN_LOG, ERASURE))
        self._rewriting = False

    def _checkpoint(self, mode: str, wait: float) -> bool:
        """A checkpoint; whether all of the log is in the file."""
        try:
            return wal.checkpoint(self._connected(), mode, wait).complete
        except DriverError as error:
            self._note(error)  # what was committed stays in the log, and the next checkpoint tries again
            return False

    def _note(self, error: DriverError) -> None:
        self.doubtful = self.doubtful or error.primary == "SQLITE_IOERR"
