"""Branches: made at a revision, and taken back to what one showed."""

from __future__ import annotations

from dataclasses import replace

from msglog.codec import encode
from msglog.errors import BranchExistsError, UnknownRevisionError
from msglog.ids import new_id
from msglog.storage import statements as sql
from msglog.storage.ledger import head_of, now_us
from msglog.storage.line import check_expected
from msglog.storage.requests import Fork, Rewind
from msglog.storage.transaction import Transaction


def fork(transaction: Transaction, request: Fork) -> str:
    """Add a branch; the revision that it is at."""
    state = transaction.known_log(request.log)
    if request.at is None:
        number, revision = (head := transaction.head(request.log, state, request.branch)).number, head.id
    else:
        rows = transaction.execute(sql.REVISION_STATE_BY_ID, (state.id, request.at))
        if not rows:
            raise UnknownRevisionError(request.at, f"log {request.log!r}")
        number, revision = rows[0][0], rows[0][1]
    if transaction.execute(sql.FORKED_FROM, (state.id, request.name)):
        raise BranchExistsError(request.log, request.name)
    at = now_us()
    transaction.execute(sql.INSERT_BRANCH, (state.id, request.name, number, number, at))
    transaction.wrote_what(sql.BRANCH_IS_STORED, state.id, request.name, at)
    return str(revision)


def rewind(transaction: Transaction, request: Rewind) -> str:
    """Add a revision that shows what another one showed; its id."""
    transaction.known_log(request.log)
    line = transaction.line(request.log, request.branch)
    check_expected(line, None, request.expected_head)
    rows = transaction.execute(sql.REVISION_STATE_BY_ID, (line.state.id, request.revision))
    if not rows:
        raise UnknownRevisionError(request.revision, f"log {request.log!r}")
    target = head_of(rows[0])
    if target.number == line.head.number:
        return line.head.id
    transaction.next_chunk(line)
    operation = encode({"type": "view", "revision": target.id})
    line.head = replace(line.head, anchor=target.anchor, chunks=target.chunks)
    line.add_revision(new_id(), operation, now_us(), request.meta, None, target.tail, target.size)
    transaction.accept(line)
    return line.head.id
