"""msglog: the conversation store that a long-lived agent can bet on."""

from __future__ import annotations

from msglog.errors import ConflictError, DuplicateEntryError, MsgLogError
from msglog.history import MessageHistory, Revision
from msglog.log import MessageLog
from msglog.message import Entry, Message, MessageMeta, StoredMessage, ToolCall
from msglog.store import Store, open  # noqa: A004 the word that users know

__all__ = [
    "ConflictError",
    "DuplicateEntryError",
    "Entry",
    "Message",
    "MessageHistory",
    "MessageLog",
    "MessageMeta",
    "MsgLogError",
    "Revision",
    "Store",
    "StoredMessage",
    "ToolCall",
    "open",
]
