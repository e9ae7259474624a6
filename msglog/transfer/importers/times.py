"""Times as sources write them, as aware times; None for what is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def from_text(value: Any) -> datetime | None:
    """An ISO 8601 text; one without a zone is in UTC, as SQLite's own times are."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def from_seconds(value: Any) -> datetime | None:
    """Seconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return _EPOCH + timedelta(seconds=value)
    except (OverflowError, ValueError):
        return None
