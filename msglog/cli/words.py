"""Counts and sizes in words."""

from __future__ import annotations


def size(count: int) -> str:
    """Bytes, in a unit that people read."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def many(count: int, one: str, more: str | None = None) -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
