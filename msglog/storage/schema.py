"""The tables. Migrations create and change them; views and triggers stand in `objects.sql`.

`text` columns hold TEXT, or a BLOB of `surrogatepass` UTF-8 where a text holds surrogates, which TEXT
cannot. Times are integer microseconds since 1970, hashes 16 raw bytes.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData()

logs = Table(
    "logs",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("uid", LargeBinary, nullable=False),
    Column("name", Text),  # null once the log is purged: the name itself may be what had to go
    Column("created_at", Integer, nullable=False),
    Column("meta", Text),
    Column("entry_count", Integer, nullable=False),
    Column("revision_count", Integer, nullable=False),
    Column("chain_hash", LargeBinary, nullable=False),
    Column("purged_at", Integer),
    Column("purged_root", Text),  # the id of its root: a history of it that somebody still holds makes it no new log
    Column("purged_n", Integer),  # the store's last n when it was purged: n is never used again
    UniqueConstraint("name", name="logs_name"),
    UniqueConstraint("uid", name="logs_uid"),  # recognising a log of another store that comes again
    sqlite_autoincrement=True,
)

entries = Table(
    "entries",
    metadata,
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("log_id", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("id", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("name", Text),
    Column("text", Text),
    Column("parts", Text),
    Column("tool_calls", Text),
    Column("tool_call_id", Text),
    Column("sources", Text),
    Column("meta", Text),
    Column("extra", Text),
    Column("at", Integer, nullable=False),
    Column("salt", LargeBinary),
    Column("content_hash", LargeBinary, nullable=False),
    Column("chain_hash", LargeBinary, nullable=False),
    Column("redacted_at", Integer),
    Column("redacted_reason", Text),
    UniqueConstraint("log_id", "seq", name="entries_seq"),  # reading a span, appending
    # Retries, get by id. Ids come first: those of one time lie together, whatever log they are of, so that a group
    # commit over many logs touches few pages.
    UniqueConstraint("id", "log_id", name="entries_id"),
)

revisions = Table(
    "revisions",
    metadata,
    Column("log_id", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("id", Text, nullable=False),
    Column("replaces", Text),
    Column("branch", Text, nullable=False),
    Column("parent", Integer),
    Column("operation", Text),  # null for an append of new entries: entries.revision says which
    Column("anchor", Integer, nullable=False),
    Column("chunks", Text),  # [[chunk, position of its first entry], …], where the revision is an anchor
    Column("tail", Text, nullable=False),  # [[position, first seq, last seq], …]; without last: one entry
    Column("size", Integer, nullable=False),
    Column("appended", Integer, nullable=False),  # entries that the lineage brought in: what count() answers
    Column("meta", Text),
    Column("at", Integer, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    PrimaryKeyConstraint("log_id", "number"),
    UniqueConstraint("id", "log_id", name="revisions_id"),  # finding a commit's base
    sqlite_with_rowid=False,
)

Index(
    "revisions_replaces",  # a rebased commit sent again
    revisions.c.log_id,
    revisions.c.replaces,
    sqlite_where=text("replaces IS NOT NULL"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("log_id", Integer, nullable=False),
    Column("chunk", Integer, nullable=False),
    Column("spans", Text, nullable=False),  # as a tail, with positions that count from the chunk's start
    PrimaryKeyConstraint("log_id", "chunk"),
    sqlite_with_rowid=False,
)

branches = Table(
    "branches",
    metadata,
    Column("log_id", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("head", Integer, nullable=False),
    Column("forked_from", Integer),
    Column("created_at", Integer, nullable=False),
    PrimaryKeyConstraint("log_id", "name"),
    ForeignKeyConstraint(["log_id", "head"], ["revisions.log_id", "revisions.number"]),
    sqlite_with_rowid=False,
)

marks = Table(
    "marks",  # what the store has to remember of itself: a barrier after a failed commit, an unfinished erasure
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
    sqlite_with_rowid=False,
)
