"""The shapes of requests and answers, for the OpenAPI description. What comes in is judged by the library itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from msglog.message import Kind, Message, MessageMeta


class Shape(BaseModel):
    """A JSON object with camelCase keys."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class EntryInput(Shape):
    """A message with what is known about it. With an id, sending it again is safe."""

    id: str | None = None
    message: Message
    kind: Kind = "turn"
    meta: MessageMeta | None = None
    sources: list[str] = []


class StoredMessage(Shape):
    """A message as a log holds it."""

    seq: int
    at: datetime
    id: str
    kind: Kind
    message: Message
    meta: MessageMeta | None = None
    sources: list[str] = []
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


class LogInfo(Shape):
    """What is known of a log."""

    model_config = ConfigDict(extra="allow")

    name: str
    entries: int
    revisions: int
    branches: int
    created_at: datetime
    last_at: datetime | None


class Description(Shape):
    """What to change of a log's description. `meta` is changed key by key; null takes away."""

    title: str | None = None
    tags: list[str] | None = None
    meta: dict[str, Any] | None = None


class LogPage(Shape):
    """Logs in order. `next` is the cursor of the page that follows; null at the end."""

    logs: list[LogInfo]
    next: str | None


class LoggedMessage(Shape):
    """A message with its log, and its number in the commit order of the whole store."""

    n: int
    log: str
    message: StoredMessage


class LoggedPage(Shape):
    """Messages of all logs in commit order."""

    messages: list[LoggedMessage]
    next: int


class PurgeReceipt(Shape):
    """What a purge took away. `complete` says that no copy is left in the file."""

    log: str
    entries: int
    revisions: int
    at: datetime
    complete: bool


class RedactReceipt(Shape):
    """What a redaction did. `summaries` may still tell of the entry."""

    entry_id: str
    seq: int
    at: datetime
    summaries: list[str]
    complete: bool


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
    sources: list[str] = []


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


class RedactInput(Shape):
    """An entry to take the content from, by seq or id."""

    entry: int | str
    reason: str = ""


class Head(Shape):
    """The head revision of a branch."""

    head: str | None


class Position(Shape):
    """Where a log ends: `count` of the branch's lineage, `seq` of the whole log."""

    count: int
    seq: int
    head: str | None


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


class Prices(Shape):
    """US dollars for a million tokens, as text: of each model, or one for all; neither: those that are built in."""

    prices: dict[str, dict[str, str]] | None = None
    price: dict[str, str] | None = None


class ImportedLog(Shape):
    """What came into one log."""

    name: str
    entries_new: int
    entries_known: int
    branches_new: int


class Loss(Shape):
    """Something that did not come over, where it stood, and why."""

    where: str
    what: str


class ImportReport(Shape):
    """What an import brought in."""

    format: str
    logs: list[ImportedLog]
    losses: list[Loss]
    losses_unlisted: int
    dry_run: bool


class About(Shape):
    """The service, and what the caller may do with it."""

    version: str
    read_only: bool
    rights: list[str]
    prefix: str


class Stats(Shape):
    """What the store holds; sizes in bytes."""

    logs: int
    entries: int
    revisions: int
    bytes: int
    wal_bytes: int


class ReportProblem(Shape):
    """Something that does not hold, and where."""

    log: str | None
    where: str
    what: str


class Report(Shape):
    """What a check found."""

    logs: int
    entries: int
    redacted: int
    revisions: int
    problems: list[ReportProblem]
    truncated: bool


class Query(Shape):
    """One read-only SQL statement."""

    query: str
    parameters: list[Any] | dict[str, Any] = []


class Rows(Shape):
    """Rows, by column."""

    rows: list[dict[str, Any]]


class UsageTotal(Shape):
    """What responses took together. `cost` are US dollars, as text; `unpriced` are models without a price."""

    responses: int
    tokens: dict[str, int]
    cost: str
    unpriced: list[str | None]


class UsagePart(UsageTotal):
    """What the responses of a branch, a model and a day (in UTC, as `2026-11-30`) took."""

    branch: str
    model: str | None
    day: str


class Usage(Shape):
    """What the model responses of a log took, each counted in one part."""

    log: str
    total: UsageTotal
    parts: list[UsagePart]


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


class Response(Shape):
    """A model's response: what it took, as its provider reported it."""

    seq: int
    at: datetime
    model: str | None
    tokens: dict[str, int]
    cost: str | None


class Responses(Shape):
    """Responses in order. `next` is what to pass as `after` for those that follow; null at the end."""

    responses: list[Response]
    next: int | None


class Health(Shape):
    """`ok`."""

    status: str


class Problem(Shape):
    """What went wrong (RFC 9457): the error's class, its sentence and its facts."""

    type: str
    title: str
    status: int
    detail: str
    error: str
    facts: dict[str, Any]
