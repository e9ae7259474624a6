"""Erasure: the two ways in which content leaves a store."""

from __future__ import annotations

from collections.abc import Sequence

from msglog.codec import to_column
from msglog.errors import UnknownEntryError
from msglog.storage import statements as sql
from msglog.storage.ledger import now_us
from msglog.storage.requests import Purge, PurgeReceipt, Redact, RedactReceipt
from msglog.storage.rows import moment, redacted_calls
from msglog.storage.search_index import BLOCK, forget
from msglog.storage.transaction import Transaction

ERASURE = "erasure"
"""The mark that says that erased content may still lie somewhere: in the write-ahead log, or in the file too."""

IN_LOG, IN_FILE = 1, 2
"""Values of the mark. In the file content is left where rows were moved: SQLite wipes what it frees
(`secure_delete`), but not where a row stood before the rows of a page were put together anew."""

_BLANKED = ("name", "text", "parts", "tool_calls", "sources", "meta", "extra", "salt")
_SIZES = ", ".join(f"length(CAST({column} AS BLOB))" for column in _BLANKED)


def redact(transaction: Transaction, request: Redact) -> RedactReceipt:
    """Blank an entry; where that was done before, only say so."""
    state = transaction.known_log(request.log)
    column = "seq" if isinstance(request.entry, int) else "id"
    rows = transaction.execute(
        f"SELECT n, seq, id, tool_calls, redacted_at, {_SIZES} FROM entries WHERE log_id = ? AND {column} = ?",
        (state.id, request.entry),
    )
    if not rows:
        raise UnknownEntryError(request.entry, f"log {request.log!r}")
    n, seq, entry_id, calls, redacted_at, *sizes = rows[0]
    summaries = _summaries_over(transaction, state.id, entry_id)
    if redacted_at is None:
        redacted_at = now_us()
        calls = redacted_calls(calls)
        reason, filler = _fitted(request.reason, sizes, calls)
        transaction.execute(
            "UPDATE entries SET name = NULL, text = NULL, parts = NULL, tool_calls = ?, sources = NULL,"
            " meta = NULL, extra = NULL, salt = zeroblob(?), redacted_at = ?, redacted_reason = ? WHERE n = ?",
            (calls, filler or 0, redacted_at, reason, n),
        )
        forget(transaction.execute, [n])
        transaction.execute(sql.SET_MARK, (ERASURE, IN_LOG if filler is not None else IN_FILE))
        transaction.wrote_what(sql.REDACTION_IS_STORED, n, redacted_at)
    transaction.erased = True
    return RedactReceipt(entry_id, seq, moment(redacted_at), summaries, complete=False)


def _fitted(
    reason: str, sizes: Sequence[int | None], calls: str | bytes | None
) -> tuple[str | bytes | None, int | None]:
    """The reason as it is stored, and the filler that goes with it; a blank at its end where only that fits."""
    for text in (reason, f"{reason} "):
        column = to_column(text)
        filler = _filler(sizes, [_bytes(calls), 8, _bytes(column)])
        if filler is not None:
            return column, filler
    return to_column(reason), None


def _filler(before: Sequence[int | None], after: Sequence[int | None]) -> int | None:
    """How long the salt's blank must be for the row to keep its size; None where it cannot.

    A row of the same size is overwritten where it stands, and no other row of its page is moved. The sizes
    are those of SQLite's record format (https://sqlite.org/fileformat2.html#record_format).
    """
    blank = len(_BLANKED) - 2  # columns that become null; the salt and the tool calls do not
    room = sum(map(_stored, before)) + 2 - sum(map(_stored, after)) - blank
    return next((size for size in range(max(0, room - 5), room) if _stored(size) == room), None)


def _stored(size: int | None) -> int:
    """Bytes that a value takes in a record: its type, as a varint, and itself."""
    return 1 if size is None else size + max(1, -(-(12 + 2 * size).bit_length() // 7))


def _bytes(value: str | bytes | None) -> int | None:
    return None if value is None else len(value.encode() if isinstance(value, str) else value)


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
    firsts = transaction.execute(f"SELECT min(n) FROM entries WHERE log_id = ? GROUP BY n / {BLOCK}", (state.id,))
    forget(transaction.execute, [n for (n,) in firsts])
    _delete_rows(transaction, state.id)
    transaction.execute(sql.SET_MARK, (ERASURE, IN_FILE))
    transaction.ledger.logs.pop(request.log, None)
    transaction.wrote_what(sql.PURGE_IS_STORED, state.id, at)
    transaction.erased = True
    return PurgeReceipt(request.log, state.entry_count, state.revision_count, moment(at), complete=False)


def _delete_rows(transaction: Transaction, log_id: int) -> None:
    for table in ("branches", "entries", "revisions", "chunks"):
        transaction.execute(f"DELETE FROM {table} WHERE log_id = ?", (log_id,))
