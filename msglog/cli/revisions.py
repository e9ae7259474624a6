"""How a person names a revision: by id, by number, by branch, and by how far behind one of these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msglog.errors import UnknownRevisionError

if TYPE_CHECKING:
    from msglog.sync import Store

_BEHIND = re.compile(r"(.*)~(\d{0,9})\Z", re.DOTALL)

_FIND = """
SELECT r.number FROM logs AS l JOIN revisions AS r ON r.log_id = l.id WHERE l.name = ?1 AND r.id = ?2
UNION ALL
SELECT r.number FROM logs AS l JOIN revisions AS r ON r.log_id = l.id WHERE l.name = ?1 AND r.number = ?3
UNION ALL
SELECT b.head FROM logs AS l JOIN branches AS b ON b.log_id = l.id WHERE l.name = ?1 AND b.name = ?2
"""

_BACK = """
WITH RECURSIVE line(number, left) AS (
  SELECT ?2, ?3
  UNION ALL
  SELECT r.parent, left - 1 FROM line
  JOIN logs AS l ON l.name = ?1 JOIN revisions AS r ON r.log_id = l.id AND r.number = line.number
  WHERE left > 0 AND r.parent IS NOT NULL
)
SELECT r.id FROM line JOIN logs AS l ON l.name = ?1 JOIN revisions AS r ON r.log_id = l.id AND r.number = line.number
WHERE left = 0
"""


def found_revision(store: Store, log: str, named: str) -> str:
    """The id of the revision that is named so in a log; `UnknownRevisionError` where there is none."""
    number = _number(store, log, named)
    behind = 0
    if number is None and (match := _BEHIND.match(named)):
        number, behind = _number(store, log, match[1] or "main"), int(match[2] or 1)
    if number is not None:
        for row in store.sql(_BACK, (log, number, behind)):
            return str(row["id"])
    raise UnknownRevisionError(named, f"log {log!r}")


def _number(store: Store, log: str, named: str) -> int | None:
    digits = named if named.isascii() and named.isdigit() and len(named) < 19 else None
    rows = store.sql(_FIND, (log, named, None if digits is None else int(digits)))
    return int(rows[0]["number"]) if rows else None
