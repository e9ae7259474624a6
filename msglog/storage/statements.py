"""The text of the statements. Written by scripts/statements from queries.py and schema.py: change those."""

from __future__ import annotations

# Writing: the columns of a table, in its order.
INSERT_ENTRY = """INSERT INTO entries (n, log_id, seq, id, revision, kind, role, name, text, parts, tool_calls, tool_call_id,
sources, meta, extra, at, salt, content_hash, chain_hash, redacted_at, redacted_reason) VALUES (?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_REVISION = """INSERT INTO revisions (log_id, number, id, replaces, branch, parent, operation, anchor, chunks, tail, size,
appended, meta, at, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_CHUNK = "INSERT INTO chunks (log_id, chunk, spans) VALUES (?, ?, ?)"
INSERT_BRANCH = "INSERT INTO branches (log_id, name, head, forked_from, created_at) VALUES (?, ?, ?, ?, ?)"
# uid, name, created_at, entry_count, revision_count, chain_hash
INSERT_LOG = """INSERT INTO logs (uid, name, created_at, entry_count, revision_count, chain_hash) VALUES (?, ?, ?, ?, ?, ?)
RETURNING id"""
# entry_count, revision_count, chain_hash, log id
UPDATE_LOG = "UPDATE logs SET entry_count=?, revision_count=?, chain_hash=? WHERE logs.id = ?"
# head, log id, name
UPDATE_BRANCH = "UPDATE branches SET head=? WHERE branches.log_id = ? AND branches.name = ?"
LAST_N = """SELECT (SELECT max(entries.n) AS max_1
FROM entries) AS anon_1, max(logs.purged_n) AS max_2
FROM logs"""
# Logs and branches
# log name -> id, uid, entry_count, revision_count, chain_hash
LOG = """SELECT logs.id, logs.uid, logs.entry_count, logs.revision_count, logs.chain_hash
FROM logs
WHERE logs.name = ?"""
# the id of a root revision -> a row for each log that began with it and was purged
PURGED_ROOT = """SELECT logs.id
FROM logs
WHERE logs.purged_root = ?"""
# log id -> the last chunk
LAST_CHUNK = """SELECT max(chunks.chunk) AS max_1
FROM chunks
WHERE chunks.log_id = ?"""
# log id, branch -> number, id, hash, anchor, tail, size, appended, branch, parent, the anchor's chunks
BRANCH_HEAD = """SELECT revisions.number, revisions.id, revisions.hash, revisions.anchor, revisions.tail, revisions.size,
revisions.appended, revisions.branch, revisions.parent, anchor.chunks
FROM revisions JOIN revisions AS anchor ON anchor.log_id = revisions.log_id AND anchor.number =
revisions.anchor JOIN branches ON branches.log_id = revisions.log_id AND branches.head = revisions.number
WHERE branches.log_id = ? AND branches.name = ?"""
# log id, number -> the same
REVISION_STATE = """SELECT revisions.number, revisions.id, revisions.hash, revisions.anchor, revisions.tail, revisions.size,
revisions.appended, revisions.branch, revisions.parent, anchor.chunks
FROM revisions JOIN revisions AS anchor ON anchor.log_id = revisions.log_id AND anchor.number =
revisions.anchor
WHERE revisions.log_id = ? AND revisions.number = ?"""
# log id, id -> the same
REVISION_STATE_BY_ID = """SELECT revisions.number, revisions.id, revisions.hash, revisions.anchor, revisions.tail, revisions.size,
revisions.appended, revisions.branch, revisions.parent, anchor.chunks
FROM revisions JOIN revisions AS anchor ON anchor.log_id = revisions.log_id AND anchor.number =
revisions.anchor
WHERE revisions.log_id = ? AND revisions.id = ?"""
# log id -> name, head's id, forked_from's id, created_at
BRANCHES = """SELECT branches.name, revisions.id, anchor.id AS id_1, branches.created_at, branches.forked_from,
branches.head
FROM branches JOIN revisions ON revisions.log_id = branches.log_id AND revisions.number = branches.head LEFT
OUTER JOIN revisions AS anchor ON anchor.log_id = branches.log_id AND anchor.number = branches.forked_from
WHERE branches.log_id = ? ORDER BY branches.created_at, branches.name"""
# log id, branch -> forked_from
FORKED_FROM = """SELECT branches.forked_from
FROM branches
WHERE branches.log_id = ? AND branches.name = ?"""
# log id, number -> branch
BRANCH_OF = """SELECT revisions.branch
FROM revisions
WHERE revisions.log_id = ? AND revisions.number = ?"""
# Revisions
# log id, number -> the REVISION columns
REVISION_ROW = """SELECT revisions.number, revisions.id, revisions.replaces, revisions.branch, revisions.parent,
revisions.operation, revisions.size, revisions.meta, revisions.at
FROM revisions
WHERE revisions.log_id = ? AND revisions.number = ?"""
# log id, JSON list of ids -> number, id, replaces
REVISIONS_KNOWN = """SELECT revisions.number, revisions.id, revisions.replaces
FROM revisions
WHERE revisions.log_id = ? AND revisions.id IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)"""
REVISIONS_REPLACING = """SELECT revisions.number, revisions.id, revisions.replaces
FROM revisions
WHERE revisions.log_id = ? AND revisions.replaces IS NOT NULL AND revisions.replaces IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)"""
# Chunks
# log id, JSON list of chunk numbers -> chunk, spans
CHUNKS = """SELECT chunks.chunk, chunks.spans
FROM chunks
WHERE chunks.log_id = ? AND chunks.chunk IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)"""
# Entries
# log id, first seq, last seq -> the STORED columns
ENTRIES_BETWEEN = """SELECT entries.seq, entries.id, entries.kind, entries.role, entries.name, entries.text, entries.parts,
entries.tool_calls, entries.tool_call_id, entries.sources, entries.meta, entries.extra, entries.at,
entries.redacted_at
FROM entries
WHERE entries.log_id = ? AND entries.seq BETWEEN ? AND ? ORDER BY entries.seq"""
# log id, seq
ENTRY_AT = """SELECT entries.seq, entries.id, entries.kind, entries.role, entries.name, entries.text, entries.parts,
entries.tool_calls, entries.tool_call_id, entries.sources, entries.meta, entries.extra, entries.at,
entries.redacted_at
FROM entries
WHERE entries.log_id = ? AND entries.seq = ?"""
# log id, id
ENTRY_OF_ID = """SELECT entries.seq, entries.id, entries.kind, entries.role, entries.name, entries.text, entries.parts,
entries.tool_calls, entries.tool_call_id, entries.sources, entries.meta, entries.extra, entries.at,
entries.redacted_at
FROM entries
WHERE entries.log_id = ? AND entries.id = ?"""
# log id, JSON list of ids
ENTRIES_OF_IDS = """SELECT entries.seq, entries.id, entries.kind, entries.role, entries.name, entries.text, entries.parts,
entries.tool_calls, entries.tool_call_id, entries.sources, entries.meta, entries.extra, entries.at,
entries.redacted_at
FROM entries
WHERE entries.log_id = ? AND entries.id IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)"""
# log id, id -> seq, revision, redacted_at, the CONTENT columns
ENTRY_CONTENT = """SELECT entries.seq, entries.revision, entries.redacted_at, entries.kind, entries.role, entries.name,
entries.text, entries.parts, entries.tool_calls, entries.tool_call_id, entries.sources, entries.meta,
entries.extra
FROM entries
WHERE entries.log_id = ? AND entries.id = ?"""
# log id, JSON list of ids -> id, seq
SEQS_OF_IDS = """SELECT entries.id, entries.seq
FROM entries
WHERE entries.log_id = ? AND entries.id IN (SELECT anon_1.value
FROM json_each(?) AS anon_1)"""
# n, limit -> n, log name, the STORED columns: every log, in commit order
ENTRIES_AFTER_N = """SELECT entries.n, logs.name, entries.seq, entries.id, entries.kind, entries.role, entries.name AS name_1,
entries.text, entries.parts, entries.tool_calls, entries.tool_call_id, entries.sources, entries.meta,
entries.extra, entries.at, entries.redacted_at
FROM entries JOIN logs ON logs.id = entries.log_id
WHERE entries.n > ? ORDER BY entries.n
LIMIT ? OFFSET ?"""
# JSON list of [first, last], log id -> the STORED columns, run by run. CROSS JOIN keeps the join order.
ENTRIES_OF_RUNS = """SELECT e.seq, e.id, e.kind, e.role, e.name, e.text, e.parts, e.tool_calls, e.tool_call_id, e.sources, e.meta,
e.extra, e.at, e.redacted_at FROM json_each(?) AS s CROSS JOIN entries AS e ON e.log_id = ? AND e.seq BETWEEN
json_extract(s.value, '$[0]') AND json_extract(s.value, '$[1]') ORDER BY s.key, e.seq"""
ON_LINEAGE = """EXISTS (SELECT 1 FROM json_each(?) AS s WHERE json_extract(s.value, '$[0]') = r.branch AND r.number <=
json_extract(s.value, '$[1]'))"""
# log id, seq, lineage, limit -> the STORED columns of what came in with a lineage's revisions
LINEAGE_ENTRIES = """SELECT e.seq, e.id, e.kind, e.role, e.name, e.text, e.parts, e.tool_calls, e.tool_call_id, e.sources, e.meta,
e.extra, e.at, e.redacted_at FROM entries AS e CROSS JOIN revisions AS r ON r.log_id = e.log_id AND r.number =
e.revision WHERE e.log_id = ? AND e.seq > ? AND EXISTS (SELECT 1 FROM json_each(?) AS s WHERE
json_extract(s.value, '$[0]') = r.branch AND r.number <= json_extract(s.value, '$[1]')) ORDER BY e.seq LIMIT ?"""
# log id, seq, limit
ENTRIES_AFTER = """SELECT entries.seq, entries.id, entries.kind, entries.role, entries.name, entries.text, entries.parts,
entries.tool_calls, entries.tool_call_id, entries.sources, entries.meta, entries.extra, entries.at,
entries.redacted_at
FROM entries
WHERE entries.log_id = ? AND entries.seq > ? ORDER BY entries.seq
LIMIT ? OFFSET ?"""
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
SET_MARK = """INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value,
excluded.value)"""
MARK = """SELECT marks.value
FROM marks
WHERE marks.name = ?"""

TABLES = {
    "logs": ('id', 'uid', 'name', 'created_at', 'meta', 'entry_count', 'revision_count', 'chain_hash', 'purged_at', 'purged_root', 'purged_n'),
    "entries": ('n', 'log_id', 'seq', 'id', 'revision', 'kind', 'role', 'name', 'text', 'parts', 'tool_calls', 'tool_call_id', 'sources', 'meta', 'extra', 'at', 'salt', 'content_hash', 'chain_hash', 'redacted_at', 'redacted_reason'),
    "revisions": ('log_id', 'number', 'id', 'replaces', 'branch', 'parent', 'operation', 'anchor', 'chunks', 'tail', 'size', 'appended', 'meta', 'at', 'hash'),
    "chunks": ('log_id', 'chunk', 'spans'),
    "branches": ('log_id', 'name', 'head', 'forked_from', 'created_at'),
    "marks": ('name', 'value'),
}
"""The columns of each table, in its order."""

INDEXES = (
    """CREATE INDEX revisions_replaces ON revisions (log_id, replaces) WHERE replaces IS NOT NULL""",
)
"""The statements that make the indexes that no constraint brings."""
