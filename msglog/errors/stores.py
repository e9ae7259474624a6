"""Stores and their files: opening them, writing them, and what the system under them does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msglog.errors.root import MsgLogError


class StoreError(MsgLogError):
    """Something about the store itself; `path` names the file."""

    path: str

    def __init__(self, path: str, message: str, **facts: Any) -> None:
        super().__init__(f"{path}: {message}", path=path, **facts)


class StoreClosedError(StoreError):
    """The store was closed."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "the store is closed; open it again")


class ForkedError(StoreError):
    """The store was opened before this process was forked; a child must open its own."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path, "this store was opened by the parent process; open it again in the child, or use 'spawn'"
        )


class ReentrantCallError(StoreError, RuntimeError):
    """A signal handler called a store while it interrupted a write of the same file."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "a write of this thread is under way; a signal handler must set a flag instead")


class ReadOnlyError(StoreError, PermissionError):
    """Writing through a store that is read-only, or that the system lets nobody write to."""

    def __init__(self, path: str, reason: str = "the store was opened read-only") -> None:
        StoreError.__init__(self, path, f"cannot write: {reason}", reason=reason)


class StoreNotFoundError(StoreError, FileNotFoundError):
    """There is no store at this path, and none was to be created."""

    def __init__(self, path: str) -> None:
        StoreError.__init__(self, path, "no such file; open without create=False or read_only=True to make one")


class CannotOpenError(StoreError, OSError):
    """The path cannot be opened as a file: `reason` says why."""

    reason: str

    def __init__(self, path: str, reason: str) -> None:
        StoreError.__init__(self, path, f"cannot be opened: {reason}", reason=reason)


class NotAStoreError(StoreError, ValueError):
    """The file is something else than a msglog store, or one that lacks parts. It is left as it is."""

    reason: str

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, f"not a msglog store: {reason}; the file was left as it is", reason=reason)


class NewerStoreError(StoreError):
    """The file was written by a newer release: `found` and `known` are schema versions."""

    found: str
    known: str

    def __init__(self, path: str, found: str, known: str) -> None:
        super().__init__(
            path,
            f"written by a newer msglog (schema {found!r}; this release knows up to {known!r}); upgrade msglog. "
            "The file was left as it is",
            found=found,
            known=known,
        )


class OlderStoreError(StoreError):
    """The file needs a migration that a read-only open cannot make."""

    found: str
    known: str

    def __init__(self, path: str, found: str, known: str) -> None:
        super().__init__(
            path,
            f"schema {found!r} is older than {known!r}; open it once for writing to migrate it",
            found=found,
            known=known,
        )


class StoreBusyError(StoreError, TimeoutError):
    """Another process held the file for longer than `busy_timeout`: `waited` seconds. Nothing was written."""

    waited: float

    def __init__(self, path: str, waited: float) -> None:
        StoreError.__init__(
            self,
            path,
            f"locked by another process for {waited:.1f} s; nothing was written. "
            "Try again, or open with a longer busy_timeout",
            waited=waited,
        )


class StoreFullError(StoreError, OSError):
    """The disk, or the size set for the file, is full. Nothing of the refused commit was stored."""

    def __init__(self, path: str) -> None:
        StoreError.__init__(self, path, "no space left; nothing was written. Free space and try again")


class StoreIOError(StoreError, OSError):
    """The system reported an I/O error; `code` is SQLite's name for it. The refused commit is not stored."""

    code: str

    def __init__(self, path: str, code: str) -> None:
        StoreError.__init__(self, path, f"I/O error ({code}); nothing was written. Check the disk", code=code)


class CorruptStoreError(StoreError, ValueError):
    """Stored rows contradict themselves or cannot be read: `where` names log, seq or revision."""

    where: str
    reason: str

    def __init__(self, path: str, where: str, reason: str) -> None:
        super().__init__(path, f"{where}: {reason}; run verify() for a full report", where=where, reason=reason)


class StoreReplacedError(StoreError):
    """The file, or its WAL, was replaced or removed while the store was open."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path, "the file was replaced or removed while it was open; nothing was acknowledged. Close and open again"
        )


class CommitUncertainError(StoreError):
    """A COMMIT failed and the file cannot say whether it holds: `entry_ids` may or may not be stored.

    Open the store again; `log.find(entry_id)` then tells, and appending again with the same ids is safe.
    """

    entry_ids: tuple[str, ...]

    def __init__(self, path: str, entry_ids: Sequence[str]) -> None:
        super().__init__(
            path,
            f"the disk failed while committing {len(entry_ids)} entries; open the store again and ask log.find(id), "
            "or append again with the same ids",
            entry_ids=tuple(entry_ids),
        )


class TwoLibrariesError(StoreError):
    """A second SQLite library was about to open a file that this process has open with another."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            "open in this process through another SQLite library; two on one file lose each other's locks. "
            "Use Store.sql() to look at it",
        )


class SqlError(StoreError, ValueError):
    """A query given to `sql` is not one that can be run: not a single read-only statement, or wrong SQL."""

    reason: str

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, f"the query cannot be run: {reason}", reason=reason)
