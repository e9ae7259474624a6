"""Looking closer at views: what each step kept of the prompt before it, and where a message stands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from msglog.budget import estimate_tokens
from msglog.budget.tokens import MEDIA_TOKENS
from msglog.history.difference import shared_prefix
from msglog.log import MessageLog
from msglog.message import StoredMessage
from msglog.server import models
from msglog.server.bodies import answer
from msglog.server.service import Count, Here, Reading

router = APIRouter(tags=["views"])

STEPS = 200
"""Revisions that are compared in one request at most: each edit among them costs as the view that it changed."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A view, or the beginning of one: its messages, and about how many tokens the first 0, 1, 2 … of them are."""

    messages: list[StoredMessage]
    totals: list[int]

    @classmethod
    def of(cls, messages: list[StoredMessage]) -> Sized:
        """The view of these messages."""
        tokens = (estimate_tokens((message,), media=MEDIA_TOKENS) for message in messages)
        return cls(messages, list(accumulate(tokens, initial=0)))

    def first(self, count: int) -> Sized:
        """The beginning of the view."""
        return Sized(self.messages[:count], self.totals[: count + 1])

    def amount(self, count: int | None = None) -> dict[str, int]:
        """So many messages from the start, or all, and about how many tokens they are."""
        size = len(self.messages) if count is None else count
        return {"messages": size, "tokens": self.totals[size]}


async def _sized(log: MessageLog, revision: str) -> Sized:
    view = await log.view(revision)
    return await asyncio.to_thread(Sized.of, view.messages)


@router.get("/logs/{log}/steps", responses={200: {"model": models.Steps}})
async def steps(
    request: Request,
    log: Reading,
    limit: Annotated[int, Query(ge=1, le=STEPS, description="Revisions")] = 100,
    before: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """The revisions from the branch's head back, each with its size and what it kept of the one before it.

    A change that keeps little of the prompt's beginning makes a provider read the rest again, at the full price.
    """
    found = []
    walk = log.lineage(limit, before=before)
    async for revision in walk:
        found.append(revision)
        if len(found) == limit:
            break
    await walk.aclose()  # type: ignore[attr-defined]
    told: list[dict[str, Any]] = []
    view = await _sized(log, found[0].id) if found else Sized.of([])
    for revision in found:
        kind = "root" if revision.operation is None else revision.operation.type
        step = {"revision": revision.id, "at": revision.created_at, "type": kind, **view.amount()}
        if revision.parent is None:
            told.append({**step, "parent": None, "kept": {"messages": 0, "tokens": 0}})
            continue
        if kind == "append" and revision.operation is not None:
            kept = revision.size - len(revision.operation.entry_ids or ())
            older = view.first(kept)
        else:
            older = await _sized(log, revision.parent)
            kept = await asyncio.to_thread(shared_prefix, older.messages, view.messages)
        told.append({**step, "parent": revision.parent, "kept": older.amount(kept)})
        view = older
    end = found[-1].id if len(found) == limit and found[-1].parent is not None else None
    return answer(request, {"steps": told, "next": end})


@router.get("/logs/{log}/place", responses={200: {"model": models.Place}})
async def place(
    request: Request,
    here: Here,
    log: Reading,
    seq: Count,
    revision: Annotated[str | None, Query(description="A revision of the log; without one, the branch's head")] = None,
) -> Response:
    """At which position of a view the message of a seq stands; null where the view does not show it."""
    at = revision if revision is not None else await log.head()
    rows: Sequence[dict[str, Any]] = await here.store.sql(
        "SELECT position FROM revision_entries WHERE log = ? AND revision = ? AND seq = ?", (log.name, at, seq)
    )
    return answer(request, {"revision": at, "position": rows[0]["position"] if rows else None})
