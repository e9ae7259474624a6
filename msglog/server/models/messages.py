"""The shapes of messages: appended, read, shown, found."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from msglog.message import Kind, Message, MessageMeta
from msglog.server.models.shape import Shape


class EntryInput(Shape):
    """A message with what is known about it. With an id, sending it again is safe."""

    id: str | None = None
    message: Message
    kind: Kind = "turn"
    meta: MessageMeta | None = None
    sources: list[str] = Field(default_factory=list)


class StoredMessage(Shape):
    """A message as a log holds it."""

    seq: int
    at: datetime
    id: str
    kind: Kind
    message: Message
    meta: MessageMeta | None = None
    sources: list[str] = Field(default_factory=list)
    redacted: bool = False


class Appended(Shape):
    """What an append did: the seq of the last message, and what it brought in: nothing, where all was stored."""

    seq: int
    new: list[StoredMessage | NewEntry]


class NewEntry(Shape):
    """Where a new entry stands."""

    seq: int
    id: str
    at: datetime


class MessagePage(Shape):
    """Messages in order of their seq. `next` is what to pass as `after` for those that follow."""

    messages: list[StoredMessage]
    next: int


class View(Shape):
    """A part of what a revision shows."""

    revision: str | None
    size: int
    start: int
    messages: list[StoredMessage]


class Repair(Shape):
    """Something that an adapter had to change for a provider."""

    what: str
    why: str
    index: int
    path: str
    entry_id: str | None


class ProviderView(Shape):
    """A view in a provider's format. `request` are the arguments of its API that the messages make up."""

    format: str
    revision: str | None
    request: dict[str, Any]
    report: list[Repair]


class LoggedMessage(Shape):
    """A message with its log, and its number in the commit order of the whole store."""

    n: int
    log: str
    message: StoredMessage


class LoggedPage(Shape):
    """Messages of all logs in commit order."""

    messages: list[LoggedMessage]
    next: int


class RedactReceipt(Shape):
    """What a redaction did. `summaries` may still tell of the entry."""

    entry_id: str
    seq: int
    at: datetime
    summaries: list[str]
    complete: bool


class RedactInput(Shape):
    """An entry to take the content from, by seq or id."""

    entry: int | str
    reason: str = ""


class Messages(Shape):
    """Messages alone."""

    messages: list[Message]


class Fragment(Shape):
    """A piece of a context, and whether it is what was searched for."""

    text: str
    matched: bool


class Hit(Shape):
    """A message that was found, and the place in it that matches."""

    log: str
    message: StoredMessage
    context: list[Fragment]


class Hits(Shape):
    """What was found, newest first."""

    hits: list[Hit]


class SearchInput(Shape):
    """What to search for."""

    words: str
    role: str | None = None
    since: datetime | None = None
    limit: int = 20
    log: str | None = None
    prefix: str = ""


class Sought(Shape):
    """An entry id to look for."""

    id: str


class Found(Shape):
    """The message of the entry id, or null."""

    message: StoredMessage | None
