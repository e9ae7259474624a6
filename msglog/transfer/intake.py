"""A bundle as it is read: parts of logs, each complete and unaltered before anything of it is looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b

from msglog.errors import BundleError, BundleVersionError, TooLargeError
from msglog.storage import row_checks
from msglog.storage.copies import REDACTED_AT, Part
from msglog.storage.engine import Row
from msglog.storage.hashes import SIZE
from msglog.storage.requests import BATCH_BYTES, Receive
from msglog.store import Store
from msglog.transfer.lines import FORMAT, VERSION, row_of
from msglog.transfer.streams import Place, Source

LINE_BYTES = 6 * BATCH_BYTES + 2**20
"""The longest line: JSON writes a control character of one byte in six."""

FURTHER_BYTES = 4 * BATCH_BYTES
"""Bytes of revisions, chunks and branches that one part may hold."""


@dataclass(slots=True)
class Piece:
    """A part of a log as it was read, and the lines that it stood in."""

    part: Receive
    is_first: bool
    line: int
    entry_lines: list[int]
    revision_lines: list[int]

    @contextmanager
    def placing_errors(self) -> Iterator[None]:
        """Tell the line of what is found to be wrong."""
        try:
            yield
        except BundleError as error:
            raise error.at(self._line_of(error.where or "")) from error.__cause__

    def _line_of(self, where: str) -> int:
        what, _, number = where.partition(" ")
        rows, lines = (
            (self.part.entries, self.entry_lines) if what == "seq" else (self.part.revisions, self.revision_lines)
        )
        if number.isdecimal():
            at = bisect_left(rows, int(number), key=lambda row: row[0])
            if at < len(rows):
                return lines[at]
        return self.line


@dataclass(slots=True)
class _Log:
    """The log that lines belong to."""

    uid: bytes
    name: str
    created_at: int
    meta: str | bytes | None


@dataclass(slots=True)
class _Reading:
    """A part in the making."""

    line: int
    is_first: bool = False
    rows: Part = field(default_factory=Part)
    entry_lines: list[int] = field(default_factory=list)
    revision_lines: list[int] = field(default_factory=list)
    size: int = 0
    further: int = 0


class Intake:
    """Reads a bundle for a store. `name_of` says what a new log is to be called."""

    def __init__(self, source: Place, store: Store, name_of: Callable[[str], str]) -> None:
        self._store = store
        self._name_of = name_of
        self._source = Source(source, LINE_BYTES)
        self._hash = blake2b(digest_size=SIZE)
        self._log: _Log | None = None
        self._ended = False
        try:
            self._logs, self.total, self._revisions = self._header()
        except BaseException:
            self._source.close()
            raise
        self._left = [self._logs, self.total, self._revisions]

    def close(self) -> None:
        """Let go of the source."""
        self._source.close()

    def _header(self) -> tuple[int, int, int]:
        line = self._source.read()
        if line is None:
            raise BundleError("it is empty", 1)
        kind, row = self._row(line)
        if kind != "bundle" or row[0] != FORMAT:
            raise BundleError("it is no bundle of msglog", 1)
        if row[1] != VERSION:
            raise BundleVersionError(row[1], VERSION)
        self._hash.update(line)
        return row[2], row[3], row[4]

    def _row(self, line: bytes) -> tuple[str, Row]:
        try:
            return row_of(line)
        except ValueError as error:
            raise self._error(str(error)) from None

    def _error(self, reason: str, where: str | None = None) -> BundleError:
        return BundleError(reason, self._source.line, None if self._log is None else self._log.name, where)

    def next_piece(self) -> Piece | None:
        """The next part, verified to be as it was written; None at the end."""
        if self._ended:
            return None
        reading = _Reading(self._source.line + 1)
        while True:
            line = self._source.read()
            if line is None:
                raise self._error("the bundle ends early: its last line is missing")
            kind, row = self._row(line)
            if kind in ("check", "end"):
                if row[0] != self._hash.digest():
                    lines = f"lines {reading.line} to {self._source.line}"
                    raise self._error(f"{lines} are not what was written")
                self._hash.update(line)
                if kind == "check":
                    return self._finish(reading)
                self._end(reading)
                return None
            self._hash.update(line)
            self._take(reading, kind, row)

    def _take(self, reading: _Reading, kind: str, row: Row) -> None:
        """Put a row where it belongs."""
        empty = reading.line == self._source.line
        try:
            if kind == "log" and empty:
                uid, name, created_at, meta = row
                name = self._name_of(name)
                row_checks.check_log(name, created_at, meta)
                self._log, reading.is_first = _Log(uid, name, created_at, meta), True
            elif kind == "entry":
                reading.rows.entries.append(row)
                reading.entry_lines.append(self._source.line)
                self._take_entry(reading, row)
            elif kind == "branch":
                row_checks.check_branch(row)
                reading.rows.branches.append(row)
            elif kind == "revision":
                row_checks.check_revision(row)
                reading.rows.revisions.append(row)
                reading.revision_lines.append(self._source.line)
            elif kind == "chunk":
                reading.rows.chunks.append(row)
            else:
                reason = f"a line of type {kind} cannot stand here"
                raise BundleError(reason)  # noqa: TRY301 its line is told below, as of all others
        except BundleError as error:
            raise self._error(error.reason, error.where) from None
        if kind != "entry":
            reading.further += sum(len(value) for value in row if isinstance(value, (str, bytes)))
            if reading.further > FURTHER_BYTES:
                raise self._error(f"a part has more than {FURTHER_BYTES:,} bytes")

    def _take_entry(self, reading: _Reading, row: Row) -> None:
        size = row_checks.check_entry(row)
        if size > self._store.max_message_bytes:
            raise TooLargeError(size, self._store.max_message_bytes)
        if self._store._options.before_store is not None and row[REDACTED_AT] is None:  # noqa: SLF001
            entry = row_checks.entry_of(row)
            if self._store._before_store(entry) != entry:  # noqa: SLF001
                raise BundleError("before_store would change it, and its hash allows no change", where=f"seq {row[0]}")
        reading.size += size
        if reading.size > BATCH_BYTES:
            raise BundleError(f"a part has more than {BATCH_BYTES:,} bytes of content")

    def _finish(self, reading: _Reading) -> Piece:
        log, rows = self._log, reading.rows
        if log is None or not rows.revisions:
            raise self._error("a part of no log, or without a revision, ends here")
        if reading.is_first != (rows.revisions[0][0] == 0):
            raise self._error("a log begins with its revision 0, and no other part does")
        for i, count in enumerate((reading.is_first, len(rows.entries), len(rows.revisions))):
            self._left[i] -= count
        part = Receive(
            log.uid,
            log.name,
            log.created_at,
            log.meta,
            rows.branches,
            rows.entries,
            rows.chunks,
            rows.revisions,
            reading.size,
        )
        return Piece(part, reading.is_first, reading.line, reading.entry_lines, reading.revision_lines)

    def _end(self, reading: _Reading) -> None:
        self._ended = True
        if reading.line != self._source.line or any(self._left):
            raise self._error("the bundle holds other numbers of logs, entries and revisions than it says")
        if self._source.read() is not None:
            raise self._error("something follows the bundle's end")
