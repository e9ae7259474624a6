"""msglog: the conversation store that a long-lived agent can bet on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msglog.errors import ConflictError, DuplicateEntryError, MsgLogError
    from msglog.history import MessageHistory, Revision
    from msglog.log import MessageLog
    from msglog.message import Entry, Message, MessageMeta, StoredMessage, ToolCall
    from msglog.opening import open  # noqa: A004 the word that users know
    from msglog.store import Store

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

_HOMES = {
    "ConflictError": "msglog.errors",
    "DuplicateEntryError": "msglog.errors",
    "Entry": "msglog.message",
    "Message": "msglog.message",
    "MessageHistory": "msglog.history",
    "MessageLog": "msglog.log",
    "MessageMeta": "msglog.message",
    "MsgLogError": "msglog.errors",
    "Revision": "msglog.history",
    "Store": "msglog.store",
    "StoredMessage": "msglog.message",
    "ToolCall": "msglog.message",
    "open": "msglog.opening",
}


_MODULES = frozenset(home.removeprefix("msglog.") for home in _HOMES.values()) | {"adapters", "budget", "codec"}


def __getattr__(name: str) -> Any:
    """A name of the root, or a module, at its first use: importing `msglog` itself costs next to nothing."""
    if name in _MODULES:
        return import_module(f"msglog.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'msglog' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
