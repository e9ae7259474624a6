"""The lineage of a branch."""

from __future__ import annotations

from msglog.storage import statements as sql
from msglog.storage.engine import Connection


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
