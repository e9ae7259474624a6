"""A stored message as JSON: what `show`, `tail` and `search` print for programs, and what `append` takes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msglog.message import StoredMessage

OUTSIDE = ("log", "seq", "at", "redacted")
"""What the line says beside the entry. `append` overlooks it: the log that takes the entry says it anew."""


def message_json(log: str, message: StoredMessage) -> dict[str, Any]:
    """The entry (`id`, `kind`, `message`, `meta`, `sources`), with its log, seq and time."""
    data = {"log": log, "seq": message.seq, "at": message.at, **message.entry.to_json()}
    return data | {"redacted": True} if message.redacted else data
