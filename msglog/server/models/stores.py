"""The shapes of what is told of logs, of the store and of the service."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from msglog.server.models.shape import Shape


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


class PurgeReceipt(Shape):
    """What a purge took away. `complete` says that no copy is left in the file."""

    log: str
    entries: int
    revisions: int
    at: datetime
    complete: bool


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
    """Something that does not hold: in which log, what kind of thing, which one of its kind, and what is wrong."""

    log: str | None
    kind: str
    key: int | str
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
    parameters: list[Any] | dict[str, Any] = Field(default_factory=list)


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
