"""A stored message as a line of JSON: what `show`, `tail` and `search` print for programs, and `append` takes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msglog.message import StoredMessage

OUTSIDE = ("log", "seq", "at", "redacted")
"""What the line says beside the entry. `append` overlooks it: the log that takes the entry says it anew."""


def json_line(log: str, message: StoredMessage) -> dict[str, Any]:
    """The entry (`id`, `kind`, `message`, `meta`, `sources`), with its log, seq and time."""
    from msglog.wire.values import message_json

    return {"log": log, **message_json(message)}
