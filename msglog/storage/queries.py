"""The statements, defined over the schema. `scripts/statements` writes their text to `statements.py`.

So nobody who uses a store waits for SQLAlchemy, which takes longer to import than all the rest. Each constant
says, in order, the parameters that its statement takes.
"""

from __future__ import annotations

from sqlalchemy import Select, and_, bindparam, func, insert, select, update
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import ColumnElement

from msglog.storage.rows import CONTENT, REVISION, STORED
from msglog.storage.schema import branches, chunks, entries, logs, marks, revisions

_DIALECT = dialect()


def compiled(statement: ClauseElement) -> str:
    """The text of a statement, with `?` for its parameters in the order of the text."""
    return str(statement.compile(dialect=_DIALECT))


def _p(name: str) -> ColumnElement[object]:
    return bindparam(name)


_STORED = [entries.c[name] for name in STORED]
_REVISION = [revisions.c[name] for name in REVISION]
_anchor = revisions.alias("anchor")

# Writing: the columns of a table, in its order.

INSERT_ENTRY = compiled(insert(entries))
INSERT_REVISION = compiled(insert(revisions))
INSERT_CHUNK = compiled(insert(chunks))
INSERT_BRANCH = compiled(insert(branches))
# uid, name, created_at, entry_count, revision_count, chain_hash
INSERT_LOG = compiled(
    insert(logs)
    .values({c: _p(c) for c in ("uid", "name", "created_at", "entry_count", "revision_count", "chain_hash")})
    .returning(logs.c.id)
)
# entry_count, revision_count, chain_hash, log id
UPDATE_LOG = compiled(
    update(logs)
    .values(entry_count=_p("entry_count"), revision_count=_p("revision_count"), chain_hash=_p("chain_hash"))
    .where(logs.c.id == _p("log_id"))
)
# head, log id, name
UPDATE_BRANCH = compiled(
    update(branches).values(head=_p("head")).where(branches.c.log_id == _p("log_id"), branches.c.name == _p("branch"))
)
LAST_N = compiled(select(select(func.max(entries.c.n)).scalar_subquery(), func.max(logs.c.purged_n)))

# Logs and branches

# log name -> id, uid, entry_count, revision_count, chain_hash
LOG = compiled(
    select(logs.c.id, logs.c.uid, logs.c.entry_count, logs.c.revision_count, logs.c.chain_hash).where(
        logs.c.name == _p("name")
    )
)
# the id of a root revision -> a row for each log that began with it and was purged
PURGED_ROOT = compiled(select(logs.c.id).where(logs.c.purged_root == _p("root")))
# log id -> the last chunk
LAST_CHUNK = compiled(select(func.max(chunks.c.chunk)).where(chunks.c.log_id == _p("log_id")))


def _revision_state() -> Select[tuple[object, ...]]:
    r = revisions.c
    return select(
        r.number, r.id, r.hash, r.anchor, r.tail, r.size, r.appended, r.branch, r.parent, _anchor.c.chunks
    ).join_from(revisions, _anchor, and_(_anchor.c.log_id == r.log_id, _anchor.c.number == r.anchor))


# log id, branch -> number, id, hash, anchor, tail, size, appended, branch, parent, the anchor's chunks
BRANCH_HEAD = compiled(
    _revision_state()
    .join(branches, and_(branches.c.log_id == revisions.c.log_id, branches.c.head == revisions.c.number))
    .where(branches.c.log_id == _p("log_id"), branches.c.name == _p("branch"))
)
# log id, number -> the same
REVISION_STATE = compiled(
    _revision_state().where(revisions.c.log_id == _p("log_id"), revisions.c.number == _p("number"))
)
# log id, id -> the same
REVISION_STATE_BY_ID = compiled(_revision_state().where(revisions.c.log_id == _p("log_id"), revisions.c.id == _p("id")))
# log id -> name, head's id, forked_from's id, created_at
BRANCHES = compiled(
    select(
        branches.c.name,
        revisions.c.id,
        _anchor.c.id,
        branches.c.created_at,
        branches.c.forked_from,
        branches.c.head,
    )
    .join_from(
        branches,
        revisions,
        and_(revisions.c.log_id == branches.c.log_id, revisions.c.number == branches.c.head),
    )
    .join(
        _anchor,
        and_(_anchor.c.log_id == branches.c.log_id, _anchor.c.number == branches.c.forked_from),
        isouter=True,
    )
    .where(branches.c.log_id == _p("log_id"))
    .order_by(branches.c.created_at, branches.c.name)
)
# log id, branch -> forked_from
FORKED_FROM = compiled(
    select(branches.c.forked_from).where(branches.c.log_id == _p("log_id"), branches.c.name == _p("branch"))
)
# log id, number -> branch
BRANCH_OF = compiled(
    select(revisions.c.branch).where(revisions.c.log_id == _p("log_id"), revisions.c.number == _p("number"))
)

# Revisions

# log id, number -> the REVISION columns
REVISION_ROW = compiled(
    select(*_REVISION).where(revisions.c.log_id == _p("log_id"), revisions.c.number == _p("number"))
)
# log id, JSON list of ids -> number, id, replaces
REVISIONS_KNOWN = compiled(
    select(revisions.c.number, revisions.c.id, revisions.c.replaces).where(
        revisions.c.log_id == _p("log_id"),
        revisions.c.id.in_(select(func.json_each(_p("ids")).table_valued("value").c.value)),
    )
)
REVISIONS_REPLACING = compiled(
    select(revisions.c.number, revisions.c.id, revisions.c.replaces).where(
        revisions.c.log_id == _p("log_id"),
        revisions.c.replaces.is_not(None),
        revisions.c.replaces.in_(select(func.json_each(_p("ids")).table_valued("value").c.value)),
    )
)

# Chunks

# log id, JSON list of chunk numbers -> chunk, spans
CHUNKS = compiled(
    select(chunks.c.chunk, chunks.c.spans).where(
        chunks.c.log_id == _p("log_id"),
        chunks.c.chunk.in_(select(func.json_each(_p("chunks")).table_valued("value").c.value)),
    )
)

# Entries

# log id, first seq, last seq -> the STORED columns
ENTRIES_BETWEEN = compiled(
    select(*_STORED)
    .where(entries.c.log_id == _p("log_id"), entries.c.seq.between(_p("first"), _p("last")))
    .order_by(entries.c.seq)
)
# log id, seq
ENTRY_AT = compiled(select(*_STORED).where(entries.c.log_id == _p("log_id"), entries.c.seq == _p("seq")))
# log id, id
ENTRY_OF_ID = compiled(select(*_STORED).where(entries.c.log_id == _p("log_id"), entries.c.id == _p("id")))
# log id, JSON list of ids
ENTRIES_OF_IDS = compiled(
    select(*_STORED).where(
        entries.c.log_id == _p("log_id"),
        entries.c.id.in_(select(func.json_each(_p("ids")).table_valued("value").c.value)),
    )
)
# log id, id -> seq, revision, redacted_at, the CONTENT columns
ENTRY_CONTENT = compiled(
    select(entries.c.seq, entries.c.revision, entries.c.redacted_at, *(entries.c[name] for name in CONTENT)).where(
        entries.c.log_id == _p("log_id"), entries.c.id == _p("id")
    )
)
# log id, JSON list of ids -> id, seq
SEQS_OF_IDS = compiled(
    select(entries.c.id, entries.c.seq).where(
        entries.c.log_id == _p("log_id"),
        entries.c.id.in_(select(func.json_each(_p("ids")).table_valued("value").c.value)),
    )
)
# n, limit -> n, log name, the STORED columns: every log, in commit order
ENTRIES_AFTER_N = compiled(
    select(entries.c.n, logs.c.name, *_STORED)
    .join_from(entries, logs, logs.c.id == entries.c.log_id)
    .where(entries.c.n > _p("n"))
    .order_by(entries.c.n)
    .limit(bindparam("limit"))
)

# JSON list of [first, last], log id -> the STORED columns, run by run. CROSS JOIN keeps the join order.
ENTRIES_OF_RUNS = (
    f"SELECT {', '.join(f'e.{name}' for name in STORED)} FROM json_each(?) AS s CROSS JOIN entries AS e"
    " ON e.log_id = ? AND e.seq BETWEEN json_extract(s.value, '$[0]') AND json_extract(s.value, '$[1]')"
    " ORDER BY s.key, e.seq"
)


ON_LINEAGE = (
    "EXISTS (SELECT 1 FROM json_each(?) AS s"
    " WHERE json_extract(s.value, '$[0]') = r.branch AND r.number <= json_extract(s.value, '$[1]'))"
)
"""Whether a revision `r` is on a lineage, given as a JSON list of [branch, last revision]."""

# log id, seq, lineage, limit -> the STORED columns of what came in with a lineage's revisions
LINEAGE_ENTRIES = (
    f"SELECT {', '.join(f'e.{name}' for name in STORED)} FROM entries AS e CROSS JOIN revisions AS r"
    " ON r.log_id = e.log_id AND r.number = e.revision"
    f" WHERE e.log_id = ? AND e.seq > ? AND {ON_LINEAGE} ORDER BY e.seq LIMIT ?"
)
# log id, seq, limit
ENTRIES_AFTER = compiled(
    select(*_STORED)
    .where(entries.c.log_id == _p("log_id"), entries.c.seq > _p("after"))
    .order_by(entries.c.seq)
    .limit(bindparam("limit"))
)

# What only a stored transaction shows: what its last write left

# log id, number, id
REVISION_IS_STORED = "SELECT 1 FROM revisions WHERE log_id = ? AND number = ? AND id = ?"
# log id, name, created_at
BRANCH_IS_STORED = "SELECT 1 FROM branches WHERE log_id = ? AND name = ? AND created_at = ?"
# n, redacted_at
REDACTION_IS_STORED = "SELECT 1 FROM entries WHERE n = ? AND redacted_at = ?"
# log id, purged_at
PURGE_IS_STORED = "SELECT 1 FROM logs WHERE id = ? AND purged_at = ?"

# Marks

# name, value: a value only rises
SET_MARK = (
    "INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)"
)
MARK = compiled(select(marks.c.value).where(marks.c.name == _p("name")))
