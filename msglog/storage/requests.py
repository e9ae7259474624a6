"""What callers ask of the writer, and what they get back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from msglog.codec import FrozenDict
from msglog.history import MessageHistory
from msglog.message import Entry
from msglog.storage.engine import Row
from msglog.storage.rows import Draft

BATCH_BYTES = 64 * 2**20
"""Bytes of content that one request may bring in."""


@dataclass(slots=True)  # not frozen, as the other requests are: that would be a fiftieth of an append's time
class Append:
    """Entries for the end of a branch, as one revision."""

    log: str
    branch: str
    drafts: Sequence[Draft]
    meta: FrozenDict
    expected_seq: int | None = None
    expected_head: str | None = None
    size: int = 0  # bytes of content


@dataclass(slots=True)
class Appended:
    """Where each entry stands, and which of them this append brought in."""

    seqs: list[int]
    new: list[tuple[Draft, int]]
    revision: str | None


@dataclass(frozen=True, slots=True)
class Commit:
    """The revisions of a history that the log does not hold yet; `changed` are entries to store in another form."""

    log: str
    branch: str
    history: MessageHistory
    rebase: bool
    changed: Mapping[str, Entry]
    max_message_bytes: int
    size: int = 0


@dataclass(frozen=True, slots=True)
class Committed:
    """The revision that the commit left the branch at; `rebased` where it is not the history's own."""

    revision: str
    rebased: bool
    new: list[tuple[Draft, int]]


@dataclass(frozen=True, slots=True)
class Fork:
    """A new branch, at a revision or at the head of another branch."""

    log: str
    branch: str
    name: str
    at: str | None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Rewind:
    """A revision that shows again what an earlier one showed."""

    log: str
    branch: str
    revision: str
    expected_head: str | None
    meta: FrozenDict
    size: int = 0


@dataclass(frozen=True, slots=True)
class Redact:
    """The content of an entry taken away."""

    log: str
    entry: str | int
    reason: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class RedactReceipt:
    """What a redaction did: the entry that was blanked, when, and the summaries that may still tell of it.

    `complete` says that no copy is left in the write-ahead log; a reader can keep one there, and the next
    checkpoint that succeeds takes it away.
    """

    entry_id: str
    seq: int
    at: datetime
    summaries: tuple[str, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Purge:
    """A whole log taken away."""

    log: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class PurgeReceipt:
    """What a purge took away. `complete` as for a redaction."""

    log: str
    entries: int
    revisions: int
    at: datetime
    complete: bool


@dataclass(frozen=True, slots=True)
class Describe:
    """Changes of a log's title, tags and metadata: only what they name changes."""

    log: str
    changes: FrozenDict
    size: int = 0


@dataclass(frozen=True, slots=True)
class IndexWords:
    """Words of entries for a block of the full-text index, which goes on after `after`."""

    block: int
    after: int
    words: Sequence[tuple[int, str]]
    size: int = 0


@dataclass(frozen=True, slots=True)
class Receive:
    """Rows of a log as another store holds them, which go on where this store's end.

    `uid` says which log it is; `log` is the name that it gets where it is new. Entries, chunks and revisions are rows
    of their tables without n and the log's id; branches are `(name, forked_from, created_at)`.
    """

    uid: bytes
    log: str
    created_at: int
    meta: str | bytes | None
    branches: Sequence[Row]
    entries: Sequence[Row]
    chunks: Sequence[Row]
    revisions: Sequence[Row]
    size: int = 0


@dataclass(frozen=True, slots=True)
class Received:
    """The name that a log has in the store, and how much of what came is new in it.

    `purged` says that the log was taken away for good, and does not come back.
    """

    log: str
    entries: int
    revisions: int
    branches: int
    purged: bool = False


@dataclass(frozen=True, slots=True)
class Repair:
    """What can be mended, mended; in a dry run only told."""

    dry_run: bool
    size: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The write-ahead log brought into the file, as far as readers allow; with `rewrite` for good.

    The file is then written anew without free space, and readers are waited for.
    """

    rewrite: bool = False
    size: int = 0


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """Pages that the write-ahead log held, and how many of them are in the file now.

    `complete` where nothing kept any from going there.
    """

    complete: bool
    frames: int
    moved: int


Request = Append | Commit | Fork | Rewind | Redact | Purge | Describe | IndexWords | Receive | Repair | Checkpoint
"""What the writer is asked for. All but a checkpoint, which is no part of a transaction, `dispatch` carries out."""
