"""Rows of another store's log, taken in as they are: checked as `verify` checks, or not stored at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from msglog.codec import encode
from msglog.errors import BundleError, DivergedError, LogExistsError
from msglog.storage import statements as sql
from msglog.storage.copies import CHUNKS, ENTRY, HASH, REDACTED_AT, REVISION
from msglog.storage.engine import Connection, DriverError, Row
from msglog.storage.integrity import verify_since
from msglog.storage.log_check import Checked
from msglog.storage.requests import Receive, Received
from msglog.storage.transaction import Transaction

_BRANCH, _PARENT = REVISION.index("branch"), REVISION.index("parent")
_CHAIN_HASH = ENTRY.index("chain_hash")


@dataclass(frozen=True, slots=True)
class Standing:
    """What a store holds of a log of which a part came, and what of the part is new. `log_id` is 0 for a new log."""

    log_id: int
    log: str
    known: Checked
    entries: Sequence[Row]
    revisions: Sequence[Row]
    branches: Sequence[Row]
    unredacted: Sequence[int] = ()  # seqs that are redacted in the part, and not here
    purged: bool = False

    @property
    def answer(self) -> Received:
        """The same, for who asked."""
        return Received(self.log, len(self.entries), len(self.revisions), len(self.branches), self.purged)


def standing(connection: Connection, part: Receive) -> Standing:
    """What of a part is new to a store, whose own part must be the same as far as it goes.

    Raises `LogExistsError`, `DivergedError` and `BundleError`.
    """
    _check_numbers(part)
    log_id, name, known, purged = _found(connection, part)
    if purged:
        return Standing(log_id, part.log, known, (), (), (), purged=True)
    old_revisions = [revision for revision in part.revisions if revision[0] <= known.revision]
    old_entries = [entry for entry in part.entries if entry[0] <= known.seq]
    statement = "SELECT number, hash FROM revisions WHERE log_id = ? AND number BETWEEN ? AND ? ORDER BY number"
    _compare(connection, log_id, name, "revision", statement, [(row[0], row[HASH]) for row in old_revisions])
    statement = "SELECT seq, chain_hash, redacted_at FROM entries WHERE log_id = ? AND seq BETWEEN ? AND ? ORDER BY seq"
    held = _compare(connection, log_id, name, "seq", statement, [(row[0], row[_CHAIN_HASH]) for row in old_entries])
    return Standing(
        log_id,
        name,
        known,
        part.entries[len(old_entries) :],
        part.revisions[len(old_revisions) :],
        _new_branches(connection, log_id, name, part.branches),
        [row[0] for row, here in zip(old_entries, held, strict=True) if row[REDACTED_AT] and not here[2]],
    )


def _check_numbers(part: Receive) -> None:
    if not part.revisions:
        raise BundleError("it has no revision", log=part.log)
    for what, rows in (("revision", part.revisions), ("seq", part.entries)):
        for number, row in enumerate(rows, rows[0][0] if rows else 0):
            if row[0] != number:
                raise BundleError("it is missing", log=part.log, where=f"{what} {number}")


def _found(connection: Connection, part: Receive) -> tuple[int, str, Checked, bool]:
    """The id and the name of the log in this store, how far it goes, and whether it was purged."""
    columns = "id, name, entry_count, chain_hash, revision_count - 1, purged_at FROM logs"
    rows = connection.execute(f"SELECT {columns} WHERE name = ? AND uid = ?", (part.log, part.uid))
    rows = rows or connection.execute(f"SELECT {columns} WHERE uid = ?", (part.uid,))
    if rows:
        log_id, name, seq, chained, revision, purged_at = rows[0]
        return log_id, name, Checked(seq, chained, revision), purged_at is not None
    if connection.execute(sql.LOG, (part.log,)):
        raise LogExistsError(part.log)
    return 0, part.log, Checked(0, part.uid, -1), False


def _compare(
    connection: Connection, log_id: int, log: str, what: str, statement: str, came: Sequence[tuple[int, bytes]]
) -> list[Row]:
    """What is held of what came; `DivergedError` where it is not the same."""
    held = connection.execute(statement, (log_id, came[0][0], came[-1][0])) if came else []
    for one, other in zip(came, held, strict=True):
        if one != other[:2]:
            raise DivergedError(log, f"{what} {one[0]}")
    return held


def _new_branches(connection: Connection, log_id: int, log: str, branches: Sequence[Row]) -> list[Row]:
    held = connection.execute("SELECT name, forked_from, created_at FROM branches WHERE log_id = ?", (log_id,))
    known = {row[0]: row for row in held}
    for row in branches:
        if known.get(row[0], row) != row:
            raise DivergedError(log, f"branch {row[0]!r}")
    return [row for row in branches if row[0] not in known]


def receive(transaction: Transaction, request: Receive) -> Received:
    """Store what is new of a part. Where it does not hold against its hashes and operations, nothing is stored."""
    found = standing(transaction.connection, request)
    if not found.revisions and not found.branches:
        return found.answer
    begins = found.revisions[0][0] if found.revisions else 0
    if begins > found.known.revision + 1:
        raise BundleError("what comes before it is missing", log=found.log, where=f"revision {begins}")
    n = transaction.last_n()
    with _whole(transaction, found.log):
        log_id = found.log_id or _founded(transaction, request)
        _insert(transaction, log_id, found, request, n)
        report = verify_since(transaction.connection, log_id, found.known)
        for problem in report.problems:
            raise BundleError(problem.what, log=found.log, where=problem.where)
    if found.revisions:
        transaction.wrote_what(sql.REVISION_IS_STORED, log_id, *found.revisions[-1][:2])
    else:
        name, _, created_at = found.branches[-1]
        transaction.wrote_what(sql.BRANCH_IS_STORED, log_id, name, created_at)
    transaction.ledger.logs.pop(found.log, None)
    transaction.ledger.last_n = n + len(found.entries)
    return found.answer


@contextmanager
def _whole(transaction: Transaction, log: str) -> Iterator[None]:
    """All of what is done, or nothing, whatever else the transaction does."""
    transaction.execute("SAVEPOINT received")
    try:
        yield
    except BaseException as error:
        with suppress(DriverError):
            transaction.execute("ROLLBACK TO received")
            transaction.execute("RELEASE received")
        if isinstance(error, DriverError) and error.primary in ("SQLITE_CONSTRAINT", "SQLITE_MISMATCH"):
            raise BundleError("an id in it is used twice, or is none", log=log) from error
        raise
    transaction.execute("RELEASE received")


def _founded(transaction: Transaction, request: Receive) -> int:
    row = (request.uid, request.log, request.created_at, 0, 0, request.uid)
    return int(transaction.execute(sql.INSERT_LOG, row)[0][0])


def _insert(transaction: Transaction, log_id: int, found: Standing, request: Receive, n: int) -> None:
    many = transaction.connection.executemany
    chunks = _new_chunks(transaction, log_id, found, request)
    heads = _moved_heads(transaction, log_id, found)
    many(sql.INSERT_ENTRY, [(n + i, log_id, *row) for i, row in enumerate(found.entries, 1)])
    many(sql.INSERT_CHUNK, [(log_id, *row) for row in chunks])
    many(sql.INSERT_REVISION, [(log_id, *row) for row in found.revisions])
    for name, forked_from, created_at in found.branches:
        transaction.execute(sql.INSERT_BRANCH, (log_id, name, heads.pop(name), forked_from, created_at))
    many(sql.UPDATE_BRANCH, [(head, log_id, name) for name, head in heads.items()])
    if found.revisions:
        last = found.revisions[-1]
        seq, chained = (
            (found.entries[-1][0], found.entries[-1][_CHAIN_HASH])
            if found.entries
            else (found.known.seq, found.known.chain_hash)
        )
        transaction.execute(sql.UPDATE_LOG, (seq, last[0] + 1, chained, log_id))
        transaction.execute("UPDATE logs SET meta = ? WHERE id = ?", (request.meta, log_id))


def _new_chunks(transaction: Transaction, log_id: int, found: Standing, request: Receive) -> list[Row]:
    """The chunks that the new revisions list and the store lacks."""
    last = transaction.execute(sql.LAST_CHUNK, (log_id,))[0][0] or 0
    try:
        listed = {n for row in found.revisions if row[CHUNKS] is not None for n, _ in json.loads(row[CHUNKS])}
        return [row for row in request.chunks if row[0] > last and row[0] in listed]
    except (TypeError, ValueError, RecursionError):
        raise BundleError("chunks of a revision cannot be read", log=found.log) from None


def _moved_heads(transaction: Transaction, log_id: int, found: Standing) -> dict[str, int]:
    """Where each branch is once the new revisions are there: a head only ever moves to a child of it."""
    names = encode(sorted({row[_BRANCH] for row in found.revisions}))
    heads: dict[str, Any] = dict(
        transaction.execute(
            "SELECT name, head FROM branches WHERE log_id = ? AND name IN (SELECT value FROM json_each(?))",
            (log_id, names),
        )
    )
    heads |= {name: forked_from for name, forked_from, _ in found.branches}
    for row in found.revisions:
        number, branch, parent = row[0], row[_BRANCH], row[_PARENT]
        if branch not in heads or heads[branch] != parent or (parent is None) != (number == 0):
            raise BundleError("it does not follow its branch's head", log=found.log, where=f"revision {number}")
        heads[branch] = number
    total = found.known.revision + len(found.revisions)
    for name, forked_from, _ in found.branches:
        if (name == "main") != (forked_from is None) or (forked_from or 0) > total:
            raise BundleError("it begins nowhere", log=found.log, where=f"branch {name!r}")
    return heads
