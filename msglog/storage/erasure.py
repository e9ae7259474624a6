"""Erasure: the two ways in which content leaves a store."""

from __future__ import annotations

from msglog.codec import to_column
from msglog.errors import UnknownEntryError
from msglog.storage import statements as sql
from msglog.storage.ledger import now_us
from msglog.storage.requests import Purge, PurgeReceipt, Redact, RedactReceipt
from msglog.storage.rows import moment, redacted_calls
from msglog.storage.transaction import Transaction

ERASURE = "erasure"
"""The mark that says that erased content may still lie in the write-ahead log."""


def redact(transaction: Transaction, request: Redact) -> RedactReceipt:
    """Blank an entry; where that was done before, only say so."""
    state = transaction.known_log(request.log)
    column = "seq" if isinstance(request.entry, int) else "id"
    rows = transaction.execute(
        f"SELECT n, seq, id, tool_calls, redacted_at FROM entries WHERE log_id = ? AND {column} = ?",
        (state.id, request.entry),
    )
    if not rows:
        raise UnknownEntryError(request.entry, f"log {request.log!r}")
    n, seq, entry_id, calls, redacted_at = rows[0]
    summaries = _summaries_over(transaction, state.id, entry_id)
    if redacted_at is None:
        redacted_at = now_us()
        transaction.execute(
            "UPDATE entries SET name = NULL, text = NULL, parts = NULL, tool_calls = ?, sources = NULL,"
            " meta = NULL, extra = NULL, salt = NULL, redacted_at = ?, redacted_reason = ? WHERE n = ?",
            (redacted_calls(calls), redacted_at, to_column(request.reason), n),
        )
        transaction.execute(sql.SET_MARK, (ERASURE, 1))
        transaction.wrote_what(sql.REDACTION_IS_STORED, n, redacted_at)
    transaction.erased = True
    return RedactReceipt(entry_id, seq, moment(redacted_at), summaries, complete=False)


def _summaries_over(transaction: Transaction, log_id: int, entry_id: str) -> tuple[str, ...]:
    """The summaries that stand for an entry, directly or through other summaries."""
    rows = transaction.execute(
        "SELECT e.id, s.value FROM entries AS e, json_each(e.sources) AS s"
        " WHERE e.log_id = ? AND e.sources IS NOT NULL ORDER BY e.seq",
        (log_id,),
    )
    over: dict[str, list[str]] = {}
    for summary, source in rows:
        over.setdefault(source, []).append(summary)
    found: dict[str, None] = {}
    waiting = [entry_id]
    while waiting:
        for summary in over.get(waiting.pop(), ()):
            if summary not in found:
                found[summary] = None
                waiting.append(summary)
    return tuple(found)


def purge(transaction: Transaction, request: Purge) -> PurgeReceipt:
    """Delete everything of a log but its receipt."""
    state = transaction.known_log(request.log)
    at = now_us()
    root = transaction.execute(sql.REVISION_ROW, (state.id, 0))
    last_n = max(n or 0 for n in transaction.execute(sql.LAST_N)[0])
    transaction.execute(
        "UPDATE logs SET name = NULL, meta = NULL, purged_at = ?, purged_root = ?, purged_n = ? WHERE id = ?",
        (at, root[0][1] if root else None, last_n, state.id),
    )
    for table in ("branches", "entries", "revisions", "chunks"):
        transaction.execute(f"DELETE FROM {table} WHERE log_id = ?", (state.id,))
    transaction.execute(sql.SET_MARK, (ERASURE, 1))
    transaction.ledger.logs.pop(request.log, None)
    transaction.wrote_what(sql.PURGE_IS_STORED, state.id, at)
    transaction.erased = True
    return PurgeReceipt(request.log, state.entry_count, state.revision_count, moment(at), complete=False)
