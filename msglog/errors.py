"""Every error that msglog raises: one root, facts as attributes, and a sentence that says what to do.

No error ever contains message text: texts, arguments and metadata values stay out of logs and traces.
Errors can be pickled, so that they cross process boundaries whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class MsgLogError(Exception):
    """The root of all errors of msglog. Facts given by keyword become attributes."""

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.__dict__.update(facts)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(cls: type[MsgLogError], args: tuple[Any, ...], facts: dict[str, Any]) -> MsgLogError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


def _named(ids: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(repr(i) for i in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most} more"


# What comes in


class CodecError(MsgLogError, TypeError, ValueError):
    """A value cannot be kept exactly as JSON: `path` leads to it, `reason` says why."""

    path: str
    reason: str

    def __init__(self, path: str, reason: str) -> None:
        where = path or "the value"
        super().__init__(f"{where} cannot be stored exactly: {reason}", path=path, reason=reason)

    def under(self, prefix: str) -> CodecError:
        """The same error with `prefix` before its path."""
        return CodecError(join_path(prefix, self.path), self.reason)


class InvalidMessageError(MsgLogError, ValueError):
    """A message, an entry or a patch does not have the shape that it must have."""

    path: str
    reason: str

    def __init__(self, path: str, reason: str) -> None:
        where = f"{path}: " if path else ""
        super().__init__(f"not a valid message: {where}{reason}", path=path, reason=reason)

    def under(self, prefix: str) -> InvalidMessageError:
        """The same error with `prefix` before its path."""
        return InvalidMessageError(join_path(prefix, self.path), self.reason)


def join_path(prefix: str, path: str) -> str:
    """Join two paths such as `content` and `[0].text`."""
    if not prefix or not path:
        return prefix or path
    return f"{prefix}{path}" if path.startswith("[") else f"{prefix}.{path}"


class TooLargeError(MsgLogError, ValueError):
    """A message is larger than the store takes: `size` and `limit` are bytes."""

    size: int
    limit: int

    def __init__(
        self,
        size: int,
        limit: int,
        what: str = "a message",
        advice: str = "Store large payloads elsewhere and keep a reference, or raise max_message_bytes",
    ) -> None:
        super().__init__(
            f"{what} of {size:,} bytes is over the limit of {limit:,}; nothing was stored. {advice}",
            size=size,
            limit=limit,
        )


class BatchTooLargeError(TooLargeError):
    """The messages of one commit together are larger than one transaction takes."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(size, limit, "a batch", "Split it into smaller batches")


# Histories


class PatchError(MsgLogError, ValueError):
    """A patch cannot be applied: `op`, the `index` of the patch, and the `ids` in question."""

    op: str
    index: int
    ids: tuple[str, ...]

    def __init__(self, op: str, index: int, ids: Sequence[str], reason: str) -> None:
        super().__init__(
            f"patch {index} ({op}): {reason}: {_named(ids)}; nothing was changed",
            op=op,
            index=index,
            ids=tuple(ids),
            reason=reason,
        )


class UnknownRevisionError(MsgLogError, LookupError):
    """No such revision in this history, log or lineage."""

    revision: str

    def __init__(self, revision: str, where: str = "this history") -> None:
        super().__init__(f"no revision {revision!r} in {where}", revision=revision, where=where)


class UnknownEntryError(MsgLogError, LookupError):
    """No entry with this id or seq."""

    entry: str | int

    def __init__(self, entry: str | int, where: str = "this history") -> None:
        super().__init__(f"no entry {entry!r} in {where}", entry=entry, where=where)


class NotLoadedError(MsgLogError, LookupError):
    """The history was loaded without what was asked for: `missing` says what, `call` loads it."""

    missing: str
    call: str

    def __init__(self, missing: str, call: str = "log.history(full=True)") -> None:
        super().__init__(f"{missing} was not loaded with this history; {call} loads it", missing=missing, call=call)


class InvalidHistoryError(MsgLogError, ValueError):
    """A snapshot, a delta or a history contradicts itself or the log that it is committed to."""

    reason: str

    def __init__(self, reason: str) -> None:
        super().__init__(f"not a valid history: {reason}", reason=reason)


class DuplicateEntryError(MsgLogError, ValueError):
    """An entry id is already in the log with other content, or came in through another branch."""

    entry_id: str
    reason: str

    def __init__(self, entry_id: str, reason: str) -> None:
        super().__init__(
            f"entry id {entry_id!r} is already used: {reason}; nothing was written. Use another id, or leave it out",
            entry_id=entry_id,
            reason=reason,
        )


class ConflictError(MsgLogError):
    """What a commit was built on has moved on: nothing was written.

    `expected` and `actual` are revision ids, or seqs for `expected_seq`; `ids` are the entries that a
    rebase needed and the new head no longer shows.
    """

    expected: str | int | None
    actual: str | int | None
    ids: tuple[str, ...]

    def __init__(
        self,
        expected: str | int | None,
        actual: str | int | None,
        ids: Sequence[str] = (),
        reason: str = "",
        *,
        may_rebase: bool = False,
    ) -> None:
        detail = f" ({_named(ids)} no longer active)" if ids else (f" ({reason})" if reason else "")
        if isinstance(expected, int):
            text = f"the log was to end at seq {expected}, but ends at {actual}; nothing was written. "
            text += "Read what came since, and append again"
        else:
            text = f"built on revision {expected!r}, but the branch is at {actual!r}{detail}; nothing was written. "
            text += "Load the history again and redo the change"
            text += ', or commit with on_conflict="rebase"' if may_rebase else ""
        super().__init__(
            text,
            expected=expected,
            actual=actual,
            ids=tuple(ids),
            reason=reason,
        )


# Budgets


class BudgetTooSmall(MsgLogError, ValueError):  # noqa: N818 the word that users know
    """What must be kept does not fit into the budget: `deficit` tokens are lacking."""

    deficit: int
    budget: int

    def __init__(self, deficit: int, budget: int) -> None:
        super().__init__(
            f"what must be kept takes {deficit:,} tokens more than the budget of {budget:,}. "
            "Raise the budget, pin less, or summarise first",
            deficit=deficit,
            budget=budget,
        )


# Sources


class SourceError(MsgLogError, ValueError):
    """A file to import from cannot be read as what it is said to be: `path`, and `reason` says why."""

    path: str
    reason: str

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot import from {path}: {reason}", path=path, reason=reason)


# Logs and branches


class InvalidNameError(MsgLogError, ValueError):
    """A name of a log, a branch or an id that cannot be one: `what` and `reason`."""

    what: str
    reason: str

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what} {reason}", what=what, reason=reason)


class PositionError(MsgLogError, ValueError):
    """A follower was to begin after a seq that the log does not have yet."""

    log: str
    after: int
    end: int

    def __init__(self, log: str, after: int, end: int) -> None:
        super().__init__(
            f"log {log!r} ends at seq {end}, so nothing can follow seq {after}; was it purged, or is it another log?",
            log=log,
            after=after,
            end=end,
        )


class UnknownLogError(MsgLogError, LookupError):
    """No log of this name in the store."""

    log: str

    def __init__(self, log: str) -> None:
        super().__init__(f"no log {log!r} in this store; a log exists from its first append", log=log)


class UnknownBranchError(MsgLogError, LookupError):
    """No branch of this name in the log."""

    log: str
    branch: str

    def __init__(self, log: str, branch: str) -> None:
        super().__init__(f"log {log!r} has no branch {branch!r}; fork({branch!r}) makes one", log=log, branch=branch)


class BranchExistsError(MsgLogError, ValueError):
    """A branch of this name exists already."""

    log: str
    branch: str

    def __init__(self, log: str, branch: str) -> None:
        super().__init__(
            f"log {log!r} already has a branch {branch!r}; pick another name, or open it with store.log(…, branch=…)",
            log=log,
            branch=branch,
        )


# Bundles, and other things that are moved between stores


class BundleError(MsgLogError, ValueError):
    """A bundle cannot be read, or what it holds does not add up.

    `line` is the line of it, `log` and `where` (a seq, a revision, a branch) lead into what it holds.
    """

    line: int | None
    log: str | None
    where: str | None
    reason: str

    def __init__(self, reason: str, line: int | None = None, log: str | None = None, where: str | None = None) -> None:
        places = [f"line {line}" if line else "", f"log {log!r}" if log else "", where or ""]
        place = ", ".join(filter(None, places)) or "the bundle"
        super().__init__(
            f"{place}: {reason}; nothing from there on was stored. Fetch or export the bundle again and import that: "
            "it goes on from what is stored",
            line=line,
            log=log,
            where=where,
            reason=reason,
        )

    def at(self, line: int | None) -> BundleError:
        """The same error with its line."""
        return BundleError(self.reason, line, self.log, self.where)


class BundleVersionError(MsgLogError, ValueError):
    """A bundle was written by a newer release: `found` and `known` are versions of the format."""

    found: int
    known: int

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"the bundle has format version {found}, this release reads up to {known}; upgrade msglog",
            found=found,
            known=known,
        )


class LogExistsError(MsgLogError, ValueError):
    """The name of a log that is to come in belongs to another log of the store."""

    log: str

    def __init__(self, log: str) -> None:
        super().__init__(
            f"the store has another log {log!r}; nothing of the new one was stored. Import it with prefix= or rename=",
            log=log,
        )


class DivergedError(MsgLogError, ValueError):
    """A log and a copy of it went different ways: at `where` they differ, so neither goes on from the other."""

    log: str
    where: str

    def __init__(self, log: str, where: str) -> None:
        super().__init__(
            f"log {log!r} and the copy that was to come in differ at {where}: both went on after they were parted. "
            "Import the copy into a store of its own",
            log=log,
            where=where,
        )


class MissingExtraError(MsgLogError, ImportError):
    """Something needs a package that is not installed: `extra` is the part of msglog that brings it."""

    extra: str

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs a further package: pip install 'msglog[{extra}]'", extra=extra)


# Stores and files


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


# Servers and clients


class RequestError(MsgLogError, ValueError):
    """A request that a server cannot read: `where` names the part, `reason` says what is wrong with it."""

    where: str
    reason: str

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}", where=where, reason=reason)


class AccessDeniedError(MsgLogError, PermissionError):
    """A server's answer to a caller without a token, or whose token does not allow what was asked for.

    `needed` is the right that it takes (`read`, `append`, `edit`, `admin`); None where a token is lacking at all.
    """

    needed: str | None
    reason: str

    def __init__(self, reason: str, needed: str | None = None) -> None:
        MsgLogError.__init__(self, reason, needed=needed, reason=reason)


class LimitError(MsgLogError):
    """A limit of a server was reached: `what` of at most `limit`. `retry_after` are seconds, where waiting helps."""

    what: str
    limit: float
    retry_after: float | None

    def __init__(self, what: str, limit: float, retry_after: float | None = None, advice: str = "") -> None:
        text = f"{what}: at most {limit:,}"
        text += f"; {advice}" if advice else ""
        text += f"; try again in {retry_after:.1f} s" if retry_after is not None else ""
        super().__init__(text, what=what, limit=limit, retry_after=retry_after)


class StoppingError(MsgLogError, ConnectionError):
    """The server is about to stop and takes no new work; nothing was written."""

    def __init__(self, reason: str = "the server is stopping; nothing was written. Try again in a moment") -> None:
        MsgLogError.__init__(self, reason)


class DeadlineError(MsgLogError, TimeoutError):
    """A server did not finish a request within its deadline of `seconds`. What it was to write may be stored or not."""

    seconds: float

    def __init__(self, seconds: float) -> None:
        MsgLogError.__init__(
            self,
            f"not done within {seconds:g} s; what was to be written may be stored or not. "
            "Ask log.find(id), or send it again with the same ids",
            seconds=seconds,
        )


class UnreachableError(StoreError, ConnectionError):
    """A server cannot be reached, or does not answer as msglog does: `path` is its URL.

    `uncertain` says that the request was sent: what it was to write may be stored or not.
    """

    reason: str
    uncertain: bool

    def __init__(self, path: str, reason: str, *, uncertain: bool = False) -> None:
        text = f"no answer from the server: {reason}"
        text += "; what was to be written may be stored or not" if uncertain else ""
        StoreError.__init__(self, path, text, reason=reason, uncertain=uncertain)


class OnlyLocalError(StoreError, NotImplementedError):
    """A server's store was asked for something that takes the file itself: `what`."""

    what: str

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, f"{what} takes the file itself; call it where the store lies", what=what)
