"""Branches: where one is, and the lineage behind it."""

from __future__ import annotations

from msglog.errors import CorruptStoreError, UnknownBranchError
from msglog.storage import statements as sql
from msglog.storage.engine import Connection, Row


def head_row(connection: Connection, path: str, log: str, log_id: int, branch: str) -> Row:
    """The `BRANCH_HEAD` row of a branch; `UnknownBranchError`, or `CorruptStoreError` where its revision is lost."""
    rows = connection.execute(sql.BRANCH_HEAD, (log_id, branch))
    if rows:
        return rows[0]
    if connection.execute(sql.FORKED_FROM, (log_id, branch)):
        raise CorruptStoreError(path, f"log {log!r}, branch {branch!r}", "the revision that it is at is missing")
    raise UnknownBranchError(log, branch)


def segments(connection: Connection, log_id: int, branch: str) -> list[tuple[str, int]]:
    """The lineage of a branch, as the branches that its revisions were made through, each to its last one."""
    last = 2**62
    found: list[tuple[str, int]] = []
    while True:
        found.append((branch, last))
        rows = connection.execute(sql.FORKED_FROM, (log_id, branch))
        if not rows or rows[0][0] is None:
            return found
        last = rows[0][0]
        branch = connection.execute(sql.BRANCH_OF, (log_id, last))[0][0]
