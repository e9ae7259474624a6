"""A SQLite file as this process has it open: one writer, a few readers, one bell, however many stores."""

from __future__ import annotations

import atexit
import os
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote
from weakref import WeakSet

from msglog.errors import (
    CannotOpenError,
    ForkedError,
    ReadOnlyError,
    StoreBusyError,
    StoreClosedError,
    StoreNotFoundError,
    StoreReplacedError,
    TwoLibrariesError,
)
from msglog.storage import forks, wal
from msglog.storage.bell import Bell
from msglog.storage.engine import Connection, Driver, DriverError, dismiss, explained
from msglog.storage.migrate import patiently, prepare
from msglog.storage.writer import BUSY, Writer

T = TypeVar("T")

IDLE_READERS = 4
"""Read connections, and threads for them, that are kept."""


class StoreFile:
    """One file, shared by all stores of the process that open it."""

    def __init__(
        self, path: str, driver: Driver, identity: tuple[int, int], *, read_only: bool, patience: float
    ) -> None:
        self.path = path
        self.driver = driver
        self.identity = identity
        self.read_only = read_only
        self.bell = Bell()
        self.writer = Writer(path, driver, identity, self.bell.ring)
        self.forked = False
        self.indexing = threading.Lock()  # one search at a time brings the full-text index up to date
        self.leases: WeakSet[Lease] = WeakSet()  # an abandoned store does not count
        # Held open, so that no other file can come to have this identity meanwhile; and it has read, so that no
        # other connection of ours is the last to close, which would bring the log into the file and remove it.
        self._pin = driver.connect(path, read_only=True)
        try:  # another process that closes the file just now has it locked for a moment
            deadline = time.monotonic() + patience
            patiently(lambda: self._pin.execute("SELECT count(*) FROM sqlite_master"), path, patience, deadline)
        except BaseException:
            dismiss(self._pin)
            raise
        self._readers: list[Connection] = []
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._poller: Poller | None = None
        self._closed = False

    # Reading

    def read(self, work: Callable[[Connection], T], patience: float) -> T:
        """Run `work` on a read connection, on one snapshot of the file."""
        self.check()
        started = time.monotonic()
        while True:
            connection = None
            try:
                connection = self._reader()
                connection.execute("BEGIN")
                return work(connection)
            except DriverError as error:
                dismiss(connection)
                connection = None
                waited = time.monotonic() - started
                if error.primary not in BUSY or waited >= patience:
                    raise explained(error, self.path, waited) from error
            finally:
                if connection is not None:
                    self._give_back(connection)
            time.sleep(0.002)

    def _reader(self) -> Connection:
        with self._lock:
            if self._readers:
                return self._readers.pop()
        return self.driver.connect(self.path, read_only=True)

    def _give_back(self, connection: Connection) -> None:
        """End a read, and keep its connection for the next one."""
        try:
            connection.execute("COMMIT")
        except DriverError:  # an error that the work got over has ended the transaction: what was read is read
            dismiss(connection)
            return
        with self._lock:
            if not self._closed and len(self._readers) < IDLE_READERS:
                self._readers.append(connection)
                return
        dismiss(connection)

    def threads(self) -> ThreadPoolExecutor:
        """The threads on which the reads of tasks run."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(IDLE_READERS, thread_name_prefix="msglog-reader")
            return self._pool

    def check(self) -> None:
        """Raise where the file can no longer be used through this object."""
        if self.forked:
            raise ForkedError(self.path)
        if self._closed:
            raise StoreClosedError(self.path)

    # Writing

    def renew(self) -> None:
        """Take a new writer in the place of one that gave up."""
        given_up, self.writer = self.writer, Writer(self.path, self.driver, self.identity, self.bell.ring)
        self.writer.full = given_up.full
        given_up.close()

    # Watching

    def watch(self, interval: float) -> Poller:
        """Have the file looked at for commits of other processes while someone follows it."""
        with self._lock:
            if self._poller is None:
                self._poller = Poller(self, interval)
            self._poller.followers += 1
            return self._poller

    def unwatch(self) -> None:
        """One follower less."""
        with self._lock:
            poller = self._poller
            if poller is not None:
                poller.followers -= 1
                if poller.followers == 0:
                    poller.stop()
                    self._poller = None

    # Closing

    def close(self) -> None:
        """Finish what was handed over and let go of the file."""
        if self.forked:
            return
        with self._lock:
            self._closed = True
            readers, self._readers = self._readers, []
            poller, self._poller = self._poller, None
            pool, self._pool = self._pool, None
        if poller is not None:
            poller.stop()
        self.bell.ring()
        if pool is not None:
            pool.shutdown(wait=True)
        for connection in readers:
            dismiss(connection)
        self.writer.close(let_go=lambda: dismiss(self._pin))
        dismiss(self._pin)
        if self.writer.in_doubt:
            _uncertain.add(self.identity)


class Poller:
    """Looks whether another process has committed: every 5 ms while something moves, less often when not."""

    FASTEST = 0.005

    def __init__(self, file: StoreFile, slowest: float) -> None:
        self._file = file
        self._slowest = max(slowest, self.FASTEST)
        self._stopped = threading.Event()
        self.followers = 0
        self._thread = threading.Thread(target=self._run, name="msglog-poller", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        connection: Connection | None = None
        seen: Any = None
        pause = self.FASTEST
        while not self._stopped.wait(pause):
            try:
                if connection is None:
                    connection = self._file.driver.connect(self._file.path, read_only=True)
                version = connection.execute("PRAGMA data_version")[0][0]
            except DriverError:
                # A follower's own read meets the error and reports it; here it only means: look again.
                version = object()
                dismiss(connection)
                connection = None
            if version == seen:
                pause = min(pause * 1.5, self._slowest)
            else:
                seen = version
                pause = self.FASTEST
                self._file.bell.ring()
        dismiss(connection)


_files: dict[tuple[int, int], StoreFile] = {}
_uncertain: set[tuple[int, int]] = set()
"""Files that were given up because the disk failed: they open again once a full checkpoint succeeds."""

_registry = threading.RLock()


class Lease:
    """The use of a file by one store. Other stores may use it longer, and for more."""

    def __init__(self, file: StoreFile, *, read_only: bool) -> None:
        self.file = file
        self.read_only = read_only
        self.ended = False

    def check(self) -> None:
        """Raise where the store can no longer use the file."""
        if self.ended:
            raise StoreClosedError(self.file.path)
        self.file.check()

    def writing(self) -> Writer:
        """The file's writer; `ReadOnlyError` where this store may not write."""
        self.check()
        if self.read_only:
            raise ReadOnlyError(self.file.path)
        return self.file.writer

    def end(self) -> None:
        """One store less; the last one closes the file."""
        file = self.file
        self.ended = True
        file.bell.ring()  # its followers hear of it
        with _registry:
            file.leases.discard(self)
            if file.leases:
                return
            if _files.get(file.identity) is file:
                del _files[file.identity]
        file.close()


def acquire(path: str, driver: Driver, *, read_only: bool, create: bool, patience: float, full: bool) -> Lease:
    """The file at `path`, opened, created or migrated; shared with the stores that have it open already."""
    path = os.path.realpath(path)
    with _registry:
        forks.let_go(path)
        identity = _located(path, read_only=read_only, create=create)
        known = _shared(identity, path, driver)
        if known is not None and known.writer.broken is not None:
            _uncertain.add(identity)
    if known is None or (known.read_only and not read_only) or identity in _uncertain:
        _make_current(driver, path, identity, read_only=read_only, create=create, patience=patience)
    with _registry:
        file = _shared(identity, path, driver)
        if file is None:
            file = _files[identity] = _opened(path, driver, identity, read_only=read_only, patience=patience)
            file.writer.full = full
            if not getattr(driver, "is_standard", False):
                _guard_against_second_library()
        elif file.writer.broken is not None and not read_only:
            file.renew()
        file.read_only = file.read_only and read_only
        file.writer.full = file.writer.full or full
        lease = Lease(file, read_only=read_only)
        file.leases.add(lease)
        return lease


def _opened(path: str, driver: Driver, identity: tuple[int, int], *, read_only: bool, patience: float) -> StoreFile:
    try:
        file = StoreFile(path, driver, identity, read_only=read_only, patience=patience)
    except DriverError as error:
        raise explained(error, path) from error
    if _located(path, read_only=read_only, create=False) != identity:
        file.close()
        raise StoreReplacedError(path)
    return file


def _shared(identity: tuple[int, int], path: str, driver: Driver) -> StoreFile | None:
    file = _files.get(identity)
    if file is not None and file.driver.name != driver.name:
        raise TwoLibrariesError(path)
    return file


def _make_current(
    driver: Driver, path: str, identity: tuple[int, int], *, read_only: bool, create: bool, patience: float
) -> None:
    try:
        connection = driver.connect(path, read_only=read_only)
    except DriverError as error:
        raise explained(error, path) from error
    try:
        prepare(connection, path, read_only=read_only, create=create, patience=patience)
        if not read_only:
            _switch_to_wal(connection, path, patience)
            if identity in _uncertain:
                _settle(connection, path)
                _uncertain.discard(identity)
    finally:
        if identity in _uncertain and not read_only:
            wal.leave(driver, path, connection)
        else:
            dismiss(connection)


def _settle(connection: Connection, path: str) -> None:
    """Bring everything that the write-ahead log holds into the file, or refuse to open it."""
    try:
        connection.execute("PRAGMA busy_timeout = 1000")
        connection.execute("BEGIN IMMEDIATE")
        try:
            wal.rewrite(path)
        finally:
            connection.execute("ROLLBACK")
        busy, logged, done = connection.execute("PRAGMA wal_checkpoint(FULL)")[0]
    except DriverError as error:
        raise explained(error, path) from error
    if busy or logged != done:
        raise StoreBusyError(path, 1.0)


def _located(path: str, *, read_only: bool, create: bool) -> tuple[int, int]:
    """The identity of the file, made if it is to be. The file itself is never opened: closing it would drop locks."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if read_only or not create:
            raise StoreNotFoundError(path) from None
        _make_directories(path)
        _make_file(path)
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise CannotOpenError(path, getattr(error, "strerror", None) or str(error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise CannotOpenError(path, "it is a directory; name a file in it")
    if status.st_nlink > 1:
        raise CannotOpenError(path, "it has a second name (a hard link), whose locks would be others; unlink one")
    if not read_only and not os.access(path, os.W_OK):
        raise ReadOnlyError(path, "the file is not writable; open it with read_only=True")
    return status.st_dev, status.st_ino


def _make_file(path: str) -> None:
    try:
        # Private from the start, and empty, so that nobody else can have a lock on it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise CannotOpenError(path, error.strerror or str(error)) from error
    _sync_directory(os.path.dirname(path))


def _make_directories(path: str) -> None:
    made: list[Path] = []
    folder = Path(path).parent
    try:
        while not folder.exists():
            made.append(folder)
            folder = folder.parent
        for each in reversed(made):
            each.mkdir(mode=0o700, exist_ok=True)
            _sync_directory(str(each.parent))
    except OSError as error:
        raise CannotOpenError(path, error.strerror or str(error)) from error


def _sync_directory(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some file systems cannot sync a directory, and have no need to
    finally:
        os.close(descriptor)


def _switch_to_wal(connection: Connection, path: str, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL")[0][0]
        except DriverError as error:
            if error.primary not in BUSY:
                raise explained(error, path) from error
            if time.monotonic() >= deadline:
                raise StoreBusyError(path, patience) from error
            time.sleep(0.002)
        else:
            if mode != "wal":
                warnings.warn(
                    f"{path}: no write-ahead log is possible here (journal mode {mode!r}); readers wait for writers",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return


# A second SQLite library

_guarded = False


def _guard_against_second_library() -> None:
    """Refuse `sqlite3.connect` on files that another library has open: each would drop the other's locks."""
    global _guarded  # noqa: PLW0603 an audit hook is the process's, and stays
    if _guarded:
        return
    _guarded = True

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "sqlite3.connect" or not _files:
            return
        try:
            named = os.fsdecode(arguments[0])
            if named.startswith("file:"):
                named = unquote(named.removeprefix("file:").removeprefix("//localhost").split("?")[0])
            status = os.stat(named)
        except (OSError, ValueError, TypeError):
            return
        file = _files.get((status.st_dev, status.st_ino))
        if file is not None and not getattr(file.driver, "is_standard", False):
            raise TwoLibrariesError(file.path)

    sys.addaudithook(refuse)


# Ends


def _finish() -> None:
    """At exit: whatever was handed over is committed, within five seconds."""
    deadline = time.monotonic() + 5
    for file in list(_files.values()):
        if not file.forked:
            file.writer.drain(max(0.0, deadline - time.monotonic()))


def _after_fork() -> None:
    """In a child: the parent's files are not ours."""
    global _registry  # noqa: PLW0603 the parent may have held it
    _registry = threading.RLock()
    for file in _files.values():
        file.forked = True
    _files.clear()


atexit.register(_finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
