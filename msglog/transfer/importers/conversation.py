"""What every importer makes of a source: conversations, whose messages have ids that are the source's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from msglog.codec import encode
from msglog.message import Entry, Message, MessageMeta

DIGEST = "sourceDigest"
"""The key in an entry's metadata of the digest of what it was made from: how a later import knows it again."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages one after another, for one log. They are read while they are stored, and once."""

    name: str
    entries: Iterable[Entry]
    title: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the source says of the whole; it becomes metadata of the log."""


@dataclass(frozen=True, slots=True)
class Node:
    """A message of a tree: `parent` is the node before it, `branch` the name of a branch that would begin with it.

    A `summary` stands for all that is before it. `place` is where the importer finds it again.
    """

    id: str
    parent: str | None
    branch: str
    place: Any = None
    summary: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """Messages with alternatives, for one log and its branches.

    Parents stand before their children, and the path that is to be main, to the node `current`, before all others.
    `load` gives the entries of a node, the first with the node's id; none where it has to note it as lost.
    """

    name: str
    nodes: Sequence[Node]
    load: Callable[[Node], list[Entry]]
    current: str | None = None
    title: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class Checkpoint(NamedTuple):
    """What one revision shows, and its metadata: `checkpoint`, its name in the source, and what else is known."""

    entries: list[Entry]
    meta: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Whole views of one conversation, each made from the one before it, for one log and its branches.

    `order` has each with its parent; parents stand first, and so does the path to the newest. `load` gives what one
    shows; None where it has to note it as lost.
    """

    name: str
    order: Sequence[tuple[str, str | None]]
    load: Callable[[str], Checkpoint | None]
    current: str | None = None
    title: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def entries_of(
    entry_id: str, messages: Sequence[Message], source: Any, meta: Mapping[str, Any] | None = None
) -> list[Entry]:
    """The entries of one record of a source: the first has its id, later ones `id/2`, `id/3`, ….

    `source` is the JSON value or the text that the record was read from.
    """
    kept = MessageMeta(**(meta or {}), **{DIGEST: digest_of(source)})
    return [
        Entry(id=entry_id if n == 1 else f"{entry_id}/{n}", message=message, meta=kept)
        for n, message in enumerate(messages, 1)
    ]


def digest_of(source: Any) -> str:
    """Sixteen hex digits of a hash over a JSON value or a text."""
    text = source if isinstance(source, str) else encode(source)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
