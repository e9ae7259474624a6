"""The shapes of histories: revisions, deltas, branches, and what lies between two views."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from msglog.message import Kind, Message, MessageMeta
from msglog.server.models.messages import NewEntry, StoredMessage
from msglog.server.models.shape import Shape


class Revision(Shape):
    """One immutable sequence of active entries: its parent, and the operation that made it."""

    id: str
    created_at: int = Field(description="milliseconds since 1970")
    size: int
    parent: str | None = None
    operation: dict[str, Any] | None = None
    entry_ids: list[str] | None = None
    replaces: str | None = None
    meta: dict[str, Any] | None = None


class RevisionPage(Shape):
    """Revisions, newest first. `next` is what to pass as `before` for those that follow; null at the end."""

    revisions: list[Revision]
    next: str | None


class Entry(Shape):
    """An entry of a history."""

    id: str
    kind: Kind = "turn"
    message: Message
    meta: MessageMeta | None = None
    sources: list[str] = Field(default_factory=list)


class History(Shape):
    """A revision and its view, of which the first `missing` entries are left out. A null head: nothing is stored."""

    head: Revision | None
    missing: int
    entries: list[Entry]


class Snapshot(Shape):
    """A whole graph."""

    entries: list[Entry]
    revisions: list[Revision]
    head: str | None


class Delta(Shape):
    """What came after the revision `base`: the entries and revisions that it lacks. Without a base: everything."""

    entries: list[Entry]
    revisions: list[Revision]
    head: str
    base: str | None = None


class Committed(Shape):
    """The revision that the branch is at. `changed` says that it is not what was sent: load it anew."""

    head: str
    changed: bool
    new: list[StoredMessage | NewEntry]


class Run(Shape):
    """Messages in a row that stay, go or come. Those that stay are only counted."""

    change: Literal["kept", "removed", "added"]
    count: int
    messages: list[StoredMessage]


class Difference(Shape):
    """What changed between two views. The first `stablePrefix` messages are the same in both."""

    model_config = ConfigDict(extra="allow")

    to: str | None
    from_tokens: int
    to_tokens: int
    stable_prefix: int
    prefix_tokens: int
    runs: list[Run]


class Branch(Shape):
    """A branch, its head revision, and the revision that it was forked from."""

    name: str
    head: str
    forked_from: str | None
    created_at: datetime


class Branches(Shape):
    """The branches of a log, oldest first."""

    branches: list[Branch]


class ForkInput(Shape):
    """A branch to make, at a revision, or at the head of the branch that it is forked from."""

    name: str
    at: str | None = None


class RewindInput(Shape):
    """What to show again."""

    revision: str
    expected_head: str | None = None
    meta: dict[str, Any] | None = None


class EditInput(Shape):
    """Patches to apply in order, as one revision."""

    patches: list[dict[str, Any]]
    strict: bool = False
    keep_pairs: bool = False
    on_conflict: Literal["raise", "rebase"] = "raise"
    meta: dict[str, Any] | None = None


class Head(Shape):
    """The head revision of a branch."""

    head: str | None


class Position(Shape):
    """Where a log ends: `count` of the branch's lineage, `seq` of the whole log."""

    count: int
    seq: int
    head: str | None


class Amount(Shape):
    """So many messages, and an estimate of their tokens."""

    messages: int
    tokens: int


class StepTaken(Amount):
    """A revision, what it shows, and how much of its parent's beginning it `kept`."""

    revision: str
    parent: str | None
    at: int = Field(description="milliseconds since 1970")
    type: Literal["root", "append", "edit", "fork", "view"]
    kept: Amount


class Steps(Shape):
    """Revisions, newest first. `next` is what to pass as `before` for those that follow; null at the end."""

    steps: list[StepTaken]
    next: str | None


class Place(Shape):
    """The position of a message in a revision's view, from 0; null where it is not shown."""

    revision: str | None
    position: int | None
