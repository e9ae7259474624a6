"""`Store`: one file of many logs. It delegates: reads to `reader`, writes to the writer."""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from msglog.checks import checked_count, checked_name
from msglog.codec import encode
from msglog.errors import InvalidMessageError, StoreError, TooLargeError
from msglog.history import MessageHistory
from msglog.log import MessageLog, OnAppend
from msglog.message import Entry, StoredMessage
from msglog.options import Options
from msglog.raw import MISSING, PAGE, Missing
from msglog.search import Hit
from msglog.storage import catalog, integrity, maintenance
from msglog.storage import statements as sql
from msglog.storage.access import Access
from msglog.storage.catalog import LogInfo, LogOrder
from msglog.storage.doctor import Diagnosis, diagnose
from msglog.storage.engine import Connection
from msglog.storage.file import Lease
from msglog.storage.repair import RepairReport
from msglog.storage.report import Report
from msglog.storage.requests import Checkpoint, Checkpointed, Describe, Purge, PurgeReceipt, Repair
from msglog.storage.rows import stored_message
from msglog.storage.search import checked_search, search

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a store holds: `bytes` is the size of the file, `wal_bytes` that of its write-ahead log."""

    logs: int
    entries: int
    revisions: int
    bytes: int
    wal_bytes: int


@dataclass(frozen=True, slots=True)
class CompactReport:
    """What `compact` came to: sizes in bytes of the file and of its write-ahead log, before and after."""

    bytes_before: int
    wal_bytes_before: int
    bytes_after: int
    wal_bytes_after: int
    complete: bool


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A message with the log that it is in and its number in the commit order of the whole store."""

    n: int
    log: str
    message: StoredMessage


class Store:
    """One database of many logs. Made by `msglog.open`; any task of any event loop may use it."""

    _log_class: ClassVar[type[MessageLog]] = MessageLog  # what its logs are

    def __init__(self, lease: Lease, access: Access, options: Options) -> None:
        self._lease = lease
        self._access = access
        self._options = options
        self._closed = False

    def __repr__(self) -> str:
        return f"<Store {self.path}{' (closed)' if self._closed else ''}>"

    @property
    def path(self) -> str:
        """The file."""
        return self._access.file.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written through this store."""
        return self._options.read_only

    @property
    def max_message_bytes(self) -> int:
        """The largest message that the store takes, in bytes of its content."""
        return self._options.max_message_bytes

    @property
    def poll_interval(self) -> float:
        """Seconds after which a follower notices another process's commit at the latest."""
        return self._options.poll_interval

    def log(self, name: str = "default", branch: str = "main", *, on_append: OnAppend | None = None) -> MessageLog:
        """The log of this name, on a branch. Nothing is read or written: a log exists from its first append."""
        return MessageLog(self, name, branch, on_append)

    async def logs(
        self, *, prefix: str = "", tag: str | None = None, order: LogOrder = "activity", sizes: bool = False
    ) -> list[LogInfo]:
        """The logs whose names begin with `prefix` and that have the tag.

        The order is that of their last messages ("activity": the most recent one is the last), of their names,
        byte for byte, or of their numbers of entries. `sizes` adds their bytes, at the cost of reading all entries.
        """
        catalog.check_listing(prefix, order)
        found = await self._access.read(lambda c: catalog.logs(c, self.path, order, sizes=sizes))
        return [info for info in found if info.name.startswith(prefix) and (tag is None or tag in info.tags)]

    async def describe(
        self,
        name: str,
        *,
        title: str | Missing | None = MISSING,
        tags: Iterable[str] | Missing | None = MISSING,
        meta: Mapping[str, Any] | Missing | None = MISSING,
        sizes: bool = False,
    ) -> LogInfo:
        """What there is to say of a log; what is given of its title, tags and metadata is changed first.

        The rest stays as it is, whoever wrote it. `title` and `tags` are replaced; `meta` is changed key by key.
        None takes away: the title, all tags, all metadata, or a key of it. `sizes` adds the log's bytes.
        Raises `UnknownLogError` where the log has no entry yet, `CodecError` for what is no JSON.
        """
        checked_name(name, "the name of a log")
        given = {"title": title, "tags": tags, "meta": meta}
        changes = catalog.checked_changes({k: v for k, v in given.items() if not isinstance(v, Missing)})
        if changes:
            size = len(encode(changes).encode("utf-8", "surrogatepass"))
            if size > self.max_message_bytes:
                raise TooLargeError(size, self.max_message_bytes, "a description", "Keep a reference in it instead")
            await self._access.write(Describe(name, changes, size))
        return await self._access.read(lambda c: catalog.one(c, self.path, name, sizes=sizes))

    async def stats(self) -> StoreStats:
        """Sizes and counts of the whole store."""

        def work(connection: Connection) -> StoreStats:
            logs, entries, revisions = connection.execute(
                "SELECT count(*), coalesce(sum(entry_count), 0), coalesce(sum(revision_count), 0) FROM logs"
                " WHERE purged_at IS NULL"
            )[0]
            return StoreStats(logs, entries, revisions, *self._sizes())

        return await self._access.read(work)

    async def verify(self, log: str | None = None) -> Report:
        """Walk every hash and recompute every view, of one log or of all; a report with `ok` and `problems`."""
        if log is not None:
            checked_name(log, "the name of a log")
        return await self._access.read(lambda connection: integrity.verify(connection, log))

    async def search(
        self,
        words: str,
        *,
        log: str | None = None,
        prefix: str = "",
        role: str | None = None,
        since: datetime | None = None,
        limit: int = 20,
    ) -> list[Hit]:
        """The newest messages that hold all words, of one log or of all, newest first, each with where it matches.

        `prefix` leaves the logs whose names begin so.

        `"a phrase"` holds words in a row, `beg*` a word that begins so; everything else is looked for as it
        stands, in text, tool calls and results, whatever the case and accents. Every entry counts that was ever
        appended, unless it was redacted. `role` and `since` (an aware time) say of which messages.
        """
        return await search(self._access, checked_search(words, log, None, role, since, limit, prefix))

    async def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the store, one moment of it, to a path where nothing is yet. Writers go on meanwhile.

        The copy appears under its name only once it is whole. Raises `FileExistsError`, `StoreError`.
        """
        target = os.fspath(path)
        if not isinstance(target, str):
            raise TypeError(f"a path must be a str or a path, not {type(target).__name__}")
        self._access.check()
        await self._access.run(lambda: maintenance.backup(self._access.file, target))

    async def doctor(self) -> Diagnosis:
        """What is unsafe, or soon will be, about the store, its SQLite library and the place where it lies.

        It looks around the content, which is for `verify`, and costs as reading all entries. A store that may
        write brings its write-ahead log into the file meanwhile, as far as readers allow.
        """
        self._access.check()
        checkpoint: Checkpointed | StoreError | None = None
        if not self.read_only:
            try:
                checkpoint = await self._access.write(Checkpoint())
            except StoreError as error:
                checkpoint = error
        patience = self._options.busy_timeout
        return await self._access.run(lambda: diagnose(self._access.file, checkpoint, patience))

    async def repair(self, *, dry_run: bool = True) -> RepairReport:
        """Mend what can be mended without inventing anything; a dry run tells what that would be, and takes it back.

        Before anything is changed, a backup of the store is made beside it, which the report names. Triggers, views
        and indexes are made again, and counters, branches and heads set right where rows and hashes prove them;
        what is lost stays lost, and is listed. Repairing again changes nothing more. Writers wait meanwhile.
        """
        report: RepairReport = await self._access.write(Repair(dry_run=True))
        if dry_run or not report.mended:
            return replace(report, dry_run=dry_run)
        backup = maintenance.name_beside(self.path, "before-repair")
        await self.backup(backup)
        report = await self._access.write(Repair(dry_run=False))
        return replace(report, backup=backup)

    async def compact(self) -> CompactReport:
        """Bring the write-ahead log into the file, and give unused space back to the file system.

        The file is written anew, in one transaction, for which it needs up to twice its size of free space; other
        writers wait meanwhile, readers do not. `complete` is False in the report where a reader kept the last
        pages from going into the file; they go there with a later checkpoint.
        """
        before = self._sizes()
        done: Checkpointed = await self._access.write(Checkpoint(rewrite=True))
        return CompactReport(*before, *self._sizes(), done.complete)

    def _sizes(self) -> tuple[int, int]:
        return _size(self.path), _size(f"{self.path}-wal")

    async def purge(self, name: str) -> PurgeReceipt:
        """Take a whole log away for good, with its name; a receipt without either stays in the file."""
        receipt: PurgeReceipt = await self._access.write(Purge(checked_name(name, "the name of a log")))
        return receipt

    async def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """The rows of one read-only SQL statement, as dicts by column.

        This is the way to look at the file from inside the process: a plain `open().close()` of it, or another
        SQLite library, would drop the locks of this one. Raises `SqlError` for anything but one reading statement.
        """
        self._access.check()
        return await self._access.run(lambda: maintenance.query(self._access.file, query, parameters))

    async def read(self, after: int = 0, limit: int = PAGE) -> list[LoggedMessage]:
        """At most `limit` messages of any log after a number `n`, in commit order."""
        checked_count(after, "after")
        checked_count(limit, "limit")
        rows = await self._access.read(lambda c: c.execute(sql.ENTRIES_AFTER_N, (after, limit, 0)))
        return [LoggedMessage(n, log, stored_message(tuple(row), self.path, log)) for n, log, *row in rows]

    async def follow(self, after: int = 0) -> AsyncIterator[LoggedMessage]:
        """Every message of every log after a number `n`, once, in commit order: what is stored, then what comes."""
        file = self._access.file
        file.watch(self.poll_interval)
        try:
            while True:
                version = file.bell.version
                page = await self.read(after)
                for logged in page:
                    after = logged.n
                    yield logged
                if len(page) < PAGE:  # the end, as of a moment after the version was noted
                    await self._access.change(version)
        finally:
            file.unwatch()

    async def close(self) -> None:
        """Finish what was handed over and let go of the file. Closing again does nothing."""
        if not self._closed:
            self._closed = self._lease.ended = True  # from now on, whatever the thread is at
            await self._access.end(self._release)

    def _release(self) -> None:
        self._lease.end()
        if self._options.temporary is not None:
            self._options.temporary()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if not self._closed and not self._access.file.forked:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)

    # For logs

    def _before_store(self, entry: Entry) -> Entry:
        hook = self._options.before_store
        if hook is None:
            return entry
        changed = hook(entry)
        if not isinstance(changed, Entry) or changed.id != entry.id:
            raise InvalidMessageError("", "before_store must return an Entry of the same id")
        return changed

    def _before_commit(self, history: MessageHistory, stored: str | None) -> dict[str, Entry]:
        """The entries that the hook changes, of those that a commit may store: those after the revision `stored`."""
        if self._options.before_store is None:
            return {}
        revisions = takewhile(lambda revision: revision.id != stored, history.loaded_lineage())
        entries = [entry for revision in revisions for entry in history.introduced(revision.id)]
        changed = ((entry, self._before_store(entry)) for entry in entries)
        return {after.id: after for before, after in changed if after is not before}


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


__all__ = ["CompactReport", "LoggedMessage", "Store", "StoreStats"]
