"""What a summary stands for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from msglog.message import StoredMessage
    from msglog.sync import Store

_SUMMARIES = """
SELECT e.id, e.sources FROM logs AS l JOIN entries AS e ON e.log_id = l.id
WHERE l.name = ? AND e.id IN (SELECT value FROM json_each(?)) AND e.kind = 'summary'
"""


def originals(store: Store, log: str, summary: StoredMessage) -> int:
    """How many turns a summary stands for, through summaries of summaries; each is counted once."""
    turns: set[str] = set()
    seen: set[str] = set()
    wanted = set(summary.sources)
    while wanted:
        seen |= wanted
        rows = store.sql(_SUMMARIES, (log, json.dumps(sorted(wanted))))
        turns |= wanted - {row["id"] for row in rows}
        wanted = {source for row in rows for source in json.loads(row["sources"] or "[]")} - seen
    return len(turns)
