"""The writer: one a file and process, which commits what waits in groups.

Callers queue their requests; the writer takes all that wait, runs them in one transaction and wakes their
callers. Each caller's request waits with it, so the queue never holds more than its callers do: it needs
no bound of its own.

It works on a thread of its own, except for a caller who blocks anyway and finds nobody waiting: the request
is then carried out on the caller's thread, which saves two hops between threads, most of a commit's time.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable

from msglog.errors import (
    BatchTooLargeError,
    CommitUncertainError,
    MsgLogError,
    ReentrantCallError,
    StoreBusyError,
    StoreClosedError,
    StoreIOError,
    StoreReplacedError,
)
from msglog.storage import statements as sql
from msglog.storage import wal
from msglog.storage.dispatch import carry_out
from msglog.storage.engine import Connection, Driver, DriverError, dismiss, explained
from msglog.storage.job import Job
from msglog.storage.ledger import Ledger
from msglog.storage.requests import BATCH_BYTES, Checkpoint
from msglog.storage.transaction import Transaction
from msglog.storage.turnstile import Turnstile
from msglog.storage.upkeep import Upkeep

_logger = logging.getLogger("msglog")

BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")

GROUP_REQUESTS = 256
GROUP_BYTES = 4 * 2**20


class Writer:
    """The only one who writes to a file in this process."""

    def __init__(self, path: str, driver: Driver, identity: tuple[int, int], on_commit: Callable[[], None]) -> None:
        self.path = path
        self.full = True
        self.journal_mode = "wal"
        self._driver = driver
        self._identity = identity
        self._on_commit = on_commit
        self._let_go: Callable[[], None] = lambda: None
        self._turnstile = Turnstile(path)
        self._ledger = Ledger()
        self._connection: Connection | None = None
        self._level: bool | None = None
        self._beside: tuple[int, int] | None = None  # the inodes of the log and its index
        self.broken: MsgLogError | None = None
        self._queue: deque[Job] = deque()
        self._lock = threading.Lock()
        self._quiet = threading.Condition(self._lock)
        self._asleep = False
        self._serving: int | None = None  # the thread that commits now
        self._overdue = False  # the thread is wanted for a checkpoint
        self._alarm = threading.Lock()  # held while awake: a bare lock wakes a thread sooner than a Condition
        self._alarm.acquire()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._upkeep = Upkeep(self._connected)
        self._wal = f"{path}-wal"
        self._index = f"{path}-shm"

    # For callers

    def submit(self, job: Job) -> None:
        """Put a job in the queue. One that blocks its caller, and finds nobody before it, is carried out at once."""
        if job.request.size > BATCH_BYTES:
            raise BatchTooLargeError(job.request.size, BATCH_BYTES)
        with self._lock:
            if self._closing:
                raise StoreClosedError(self.path)
            if self.broken is not None:
                raise self.broken
            here = job.event is not None and self._serving is None and not self._queue and not self._overdue
            if here:
                self._serving = threading.get_ident()
            elif self._serving == threading.get_ident():
                raise ReentrantCallError(self.path)
            else:
                self._rouse()
            self._queue.append(job)
        if here:
            self._serve_here(job)

    def _serve_here(self, job: Job) -> None:
        try:
            self._serve(1)
        except BaseException:  # an interrupt may come anywhere: what was begun is undone, or committed already
            self.withdraw(job)
            self._roll_back()
            raise
        finally:
            with self._lock:
                self._serving = None
                self._overdue = self._checkpoint_is_due()
                if self._queue or self._overdue or (self._closing and self._thread is not None):
                    try:
                        self._rouse()
                    except StoreIOError:  # no thread for a checkpoint: the next commit tries again
                        self._overdue = False
                self._quiet.notify_all()

    def _rouse(self) -> None:
        """Have the thread look at the queue."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="msglog-writer", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                raise StoreIOError(self.path, f"no thread to write with: {error}") from error
            self._thread = thread
        elif self._asleep:
            self._asleep = False
            self._alarm.release()

    def withdraw(self, job: Job) -> None:
        """Take a job back, if the writer has not taken it yet."""
        with self._lock:
            if not job.taken:
                with contextlib.suppress(ValueError):
                    self._queue.remove(job)

    def drain(self, timeout: float) -> bool:
        """Wait until nothing waits any more; whether that came in time."""
        deadline = time.monotonic() + timeout
        with self._lock:
            while self._queue or self._serving is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._quiet.wait(left)
        return True

    @property
    def in_doubt(self) -> bool:
        """Whether the file and its write-ahead log may not be what they seem to be."""
        return self.broken is not None or self._upkeep.doubtful

    def close(self, timeout: float = 5.0, *, let_go: Callable[[], None] = lambda: None) -> None:
        """Finish what waits, then end the thread and close the connection.

        `let_go` closes the file's other connections. It is called before, so that closing the writer's brings the
        log into the file and removes it; but not where that would trust a log that is in doubt.
        """
        with self._lock:
            self._closing = True
            self._let_go = let_go
            thread = self._thread
            if thread is not None:
                self._rouse()
        if thread is not None:
            thread.join(timeout)
        elif self.drain(timeout):
            self._end()

    def _run(self) -> None:
        """What the thread does."""
        while True:
            with self._lock:
                free = self._serving is None
                if free and self._closing and not self._queue:
                    break
                asleep = not (free and (self._queue or self._overdue))
                if asleep:
                    self._asleep = True
                else:
                    self._serving, self._overdue = threading.get_ident(), False
            if asleep:
                self._alarm.acquire()
                continue
            try:
                self._serve(GROUP_REQUESTS)
            except BaseException as error:  # noqa: BLE001 nobody may wait for ever
                self._fail_all(error)
            finally:
                with self._lock:
                    self._serving = None
                    self._quiet.notify_all()
        self._end()

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            self._turnstile.enter(time.monotonic() + 1)  # closing the last connection is a checkpoint
        with contextlib.suppress(DriverError):
            if self._upkeep.doubtful and self._connection is not None and self._begin(time.monotonic() + 1):
                self._roll_back()
        if not self.in_doubt:
            self._let_go()
        self._disconnect()
        self._turnstile.close()

    def _serve(self, most: int) -> None:
        """One turn: wait for it, commit a group of at most so many; the thread's turn checkpoints where that is due."""
        with self._lock:
            deadline = min((job.deadline for job in self._queue), default=0.0)
        try:
            entered = self._turnstile.enter(deadline)
        except OSError as error:
            self._fail_all(StoreIOError(self.path, f"lock file: {error.strerror}"))
            return
        if not entered:
            self._expire()
            return
        jobs: list[Job] = []
        try:
            if not self._queue:
                pass
            elif self._begin(deadline):
                jobs = self._take(most)
                self._commit_group(jobs)
                self._on_commit()
            else:
                self._expire()
            if most > 1 and self._checkpoint_is_due():
                Job.wake(jobs)
                jobs = []
                self._upkeep.do()
        except DriverError as error:
            self._disconnect()
            self._fail_all(explained(error, self.path))
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._turnstile.leave()
            Job.wake(jobs)  # last, so that the callers who wake do not have to fight this thread for the GIL

    def _begin(self, deadline: float) -> bool:
        """BEGIN IMMEDIATE, waiting for a process that does not use the turnstile; whether it came in time."""
        pause = 0.0002
        while True:
            try:
                connection = self._connected()
                if self._level is not self.full:
                    connection.execute(f"PRAGMA synchronous = {'FULL' if self.full else 'NORMAL'}")
                    self._level = self.full
                connection.execute("BEGIN IMMEDIATE")
                self._rewrite_doubtful()
            except DriverError as error:
                if error.primary not in BUSY:
                    raise
            else:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)

    def _connected(self) -> Connection:
        if self._connection is None:
            connection = self._driver.connect(self.path)
            try:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA wal_autocheckpoint = 0")
                self.journal_mode = connection.execute("PRAGMA journal_mode = WAL")[0][0]
                self._upkeep.see_erasure(connection)
            except DriverError:
                dismiss(connection)
                raise
            self._connection, self._level, self._beside = connection, None, None
            self._ledger.forget()
        return self._connection

    def _rewrite_doubtful(self) -> None:
        if self._upkeep.doubtful:
            wal.rewrite(self.path)
            self._upkeep.doubtful = False

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        dismiss(connection)

    def _take(self, most: int) -> list[Job]:
        """The jobs of the next group, first come first served."""
        jobs: list[Job] = []
        size = 0
        with self._lock:
            while self._queue and len(jobs) < most:
                job = self._queue[0]
                alone = isinstance(job.request, Checkpoint)
                if jobs and (alone or size + job.request.size > GROUP_BYTES):
                    break
                self._queue.popleft()
                job.taken = True
                jobs.append(job)
                size += job.request.size
                if alone:
                    break
        return jobs

    def _expire(self) -> None:
        """Answer those whose patience has ended."""
        now = time.monotonic()
        with self._lock:
            late = [job for job in self._queue if job.deadline <= now]
            for job in late:
                self._queue.remove(job)
                job.taken = True
                job.error = StoreBusyError(self.path, now - job.queued)
        Job.wake(late)

    def _fail_all(self, error: BaseException) -> None:
        with self._lock:
            jobs = list(self._queue)
            self._queue.clear()
            for job in jobs:
                job.taken = True
                job.error = error
        Job.wake(jobs)

    def _commit_group(self, jobs: list[Job]) -> None:
        """Commit the jobs together; where that fails, each of them alone, so that it fails only whom it must."""
        try:
            if jobs and isinstance(jobs[0].request, Checkpoint):
                jobs[0].result = self._upkeep.carry_out(jobs[0].request)
            else:
                self._attempt(jobs)
        except Exception as error:  # noqa: BLE001 a fault of ours, too, must reach its caller and end nothing
            self._roll_back()
            if len(jobs) > 1:
                for job in jobs:
                    job.error = job.result = None
                    self._alone(job)
            elif jobs:
                jobs[0].error = self._explained(error)

    def _alone(self, job: Job) -> None:
        try:
            self._connected().execute("BEGIN IMMEDIATE")
            self._attempt([job])
        except Exception as error:  # noqa: BLE001 as above
            self._roll_back()
            job.error = self._explained(error)

    def _explained(self, error: Exception) -> Exception:
        return explained(error, self.path) if isinstance(error, DriverError) else error

    def _roll_back(self) -> None:
        self._ledger.forget()
        if self._connection is not None:
            with contextlib.suppress(DriverError):
                self._connection.execute("ROLLBACK")

    def _attempt(self, jobs: list[Job]) -> None:
        """Run jobs in the open transaction and commit it."""
        connection = self._connection
        assert connection is not None  # noqa: S101 the caller holds one
        version = connection.execute("PRAGMA data_version")[0][0]
        if version != self._ledger.version:
            self._ledger.forget()
            self._ledger.version = version
        transaction = Transaction(connection, self._ledger, self.path)
        for job in jobs:
            try:
                job.result = carry_out(transaction, job.request)
            except MsgLogError as error:
                job.error = error
        if not transaction.wrote:
            connection.execute("ROLLBACK")
            if transaction.erased:
                self._upkeep.finish_erasure(jobs)
            return
        transaction.flush()
        try:
            self._commit(connection)
        except DriverError as error:
            if not self._resolve(jobs, transaction, error):
                return
        try:
            self._committed(jobs, erased=transaction.erased)
        except Exception:  # what is stored is stored: no fault of ours may say otherwise
            _logger.exception("%s: after a commit", self.path)
            self._disconnect()

    def _commit(self, connection: Connection) -> None:
        connection.execute("COMMIT")

    def _committed(self, jobs: list[Job], *, erased: bool) -> None:
        """What is to be done once a group is stored."""
        if not self._in_place():
            self.broken = StoreReplacedError(self.path)
            for job in jobs:
                job.error = self.broken
            return
        self._upkeep.grew(6 + sum(job.request.size for job in jobs) // 3000 + len(jobs) // 8)
        if erased:
            self._upkeep.finish_erasure(jobs)

    def _in_place(self) -> bool:
        """Whether the file is still the one that was opened, under one name, with its write-ahead log and index.

        Whoever opens it by another name, or finds the index gone and makes a new one, is not kept apart from us.
        """
        try:
            status = os.stat(self.path)
            if (status.st_dev, status.st_ino) != self._identity or status.st_nlink > 1:
                return False
            if self.journal_mode != "wal":
                return True
            log = os.stat(self._wal)
            found = (log.st_ino, os.stat(self._index).st_ino)
        except OSError:
            return False
        self._upkeep.wal_size = log.st_size
        if self._beside is None:
            self._beside = found
        return found == self._beside

    def _checkpoint_is_due(self) -> bool:
        return self._connection is not None and self.journal_mode == "wal" and self._upkeep.is_due()

    # When the disk says no

    def _resolve(self, jobs: list[Job], transaction: Transaction, error: DriverError) -> bool:
        """Find out what a COMMIT that failed left behind: whether the transaction is stored. If not, jobs are told.

        A full disk left no whole commit record: nothing is stored. After an I/O error the record may lie
        in the write-ahead log although the connection does not see it, and come back after a crash. So a
        new connection commits a barrier over whatever is left, and looks inside it. The old one is closed
        only afterwards: were it the last, the new one would read the log anew, and take the record for good.
        """
        if error.primary == "SQLITE_FULL" or error.primary in BUSY:
            raise error
        self._roll_back()
        failed, self._connection = self._connection, None
        self._upkeep.doubtful = True
        try:
            connection = self._connected()
            dismiss(failed)
            connection.execute("PRAGMA synchronous = FULL")
            self._level = True
            connection.execute("BEGIN IMMEDIATE")
            self._rewrite_doubtful()
            stored: bool | None = transaction.is_stored(connection)
            connection.execute(sql.SET_MARK, ("barrier", time.time_ns() // 1000))
            connection.execute("COMMIT")
        except DriverError as failure:
            stored = None
            dismiss(failed)
            self._disconnect()
            self.broken = StoreIOError(self.path, failure.code)
            self.broken.__cause__ = failure
        for job in jobs:
            if job.error is None and stored is None:
                job.error = CommitUncertainError(self.path, job.entry_ids())
            elif job.error is None and not stored:
                job.error = explained(error, self.path)
        return bool(stored)
