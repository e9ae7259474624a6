"""Histories: loaded, committed, looked through."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from msglog.budget import estimate_tokens
from msglog.budget.tokens import MEDIA_TOKENS
from msglog.errors import ConflictError, NotLoadedError, RequestError, UnknownLogError, UnknownRevisionError
from msglog.history import HistoryDelta, MessageHistory, Revision
from msglog.history.difference import changed, shared_prefix
from msglog.history.snapshot import as_delta
from msglog.log import MessageLog
from msglog.message import StoredMessage
from msglog.server import examples, models
from msglog.server.bodies import answer, field, long_answer, read_json, refusal
from msglog.server.routes.messages import count_append, places
from msglog.server.service import Count, Editing, Here, PageSize, Reading, ReadingWhole

router = APIRouter(tags=["histories"])

At = Annotated[str | None, Query(description="A revision; without one, the branch's head")]

SNAPSHOT_LIMIT = 100_000
"""Revisions that a snapshot holds at most, unless more are asked for."""


@router.get("/logs/{log}/history", responses={200: {"model": models.History}})
async def load(request: Request, log: Reading, at: At = None, last: Count | None = None) -> Response:
    """A revision and its view, or so many entries at its end: what a client needs to go on from there."""
    if at is None and await log.head() is None:
        return answer(request, {"head": None, "missing": 0, "entries": []})
    history = await log.history(at, last=last)
    held = history.size if last is None else min(last, history.size)
    head = history.head.to_json()
    return long_answer(request, {"head": head, "missing": history.size - held, "entries": history.refs(last=held)})


@router.get("/logs/{log}/snapshot", responses={200: {"model": models.Snapshot}})
async def snapshot(
    request: Request,
    log: Reading,
    at: At = None,
    limit: Count = SNAPSHOT_LIMIT,
) -> Response:
    """The whole lineage of a revision, with every entry: 400 where that is more than `limit` revisions."""
    if at is None and await log.head() is None:
        return answer(request, {"entries": [], "revisions": [], "head": None})
    try:
        history = await log.history(at, full=True, limit=limit)
    except ValueError as error:
        return refusal(error)
    return long_answer(request, _written(history.to_snapshot()))


@router.get("/logs/{log}/changes", responses={200: {"model": models.Delta}})
async def changes(
    request: Request, log: Reading, since: Annotated[str | None, Query(description="A revision that is known")] = None
) -> Response:
    """What the branch brought since a revision of its lineage: what a replica lacks."""
    history = await log.history(full=True)
    return long_answer(request, _written(history.changes_since(since)))


def _written(snapshot: Any) -> dict[str, Any]:
    parts = {
        "entries": snapshot.entries,
        "revisions": (revision.to_json() for revision in snapshot.revisions),
        "head": snapshot.head,
    }
    if isinstance(snapshot, HistoryDelta) and snapshot.base is not None:
        parts["base"] = snapshot.base
    return parts


@router.post(
    "/logs/{log}/commit",
    responses={200: {"model": models.Committed}},
    openapi_extra=examples.body(models.Delta, **examples.DELTA),
)
async def commit(
    request: Request,
    here: Here,
    log: Editing,
    on_conflict: Annotated[
        Literal["raise", "rebase"], Query(alias="onConflict", description="What to do where the branch has moved")
    ] = "raise",
    returned: Annotated[Literal["places", "messages"], Query(alias="return")] = "places",
) -> Response:
    """Store what a history holds beyond the log, and move the branch to its head.

    `base` is a revision that the log holds; without one, the delta is the history's whole lineage. Where the branch
    is not at what the history was built on: 409 with both heads, or a rebase. Sent again, it changes nothing.
    """
    delta = as_delta(await read_json(request, here.settings.limits.body_bytes))
    history = await _history_of(log, delta)
    new: list[StoredMessage] = []
    target = here.store.log(log.name, log.branch, on_append=new.append)
    began = time.perf_counter()
    committed = await target.commit(history, on_conflict)
    count_append(here, new, time.perf_counter() - began)
    told = new if returned == "messages" else places(new)
    return answer(request, {"head": committed.revision_id, "changed": committed is not history, "new": told})


async def _history_of(log: MessageLog, delta: HistoryDelta) -> MessageHistory:
    """The history that a delta leads to from what is stored."""
    if delta.base is None:
        return MessageHistory.from_snapshot(delta)
    try:
        base = await log.history(delta.base)
    except UnknownLogError:
        reason = "the log is gone, or none of the history's revisions is in it"
        raise ConflictError(delta.head, None, reason=reason) from None
    except UnknownRevisionError:
        reason = "none of the history's revisions is in this log"
        raise ConflictError(delta.base, await log.head(), reason=reason) from None
    try:
        return base.apply(delta)
    except NotLoadedError:  # it goes back to what lies behind its base
        return (await log.history(delta.base, full=True)).apply(delta)


@router.post(
    "/logs/{log}/edit",
    responses={200: {"model": models.Head}},
    openapi_extra=examples.body(models.EditInput, patches=[{"op": "remove", "id": "turn-1"}]),
)
async def edit(request: Request, here: Here, log: Editing) -> Response:
    """Edit what the branch shows, and commit that; the revision that it leads to."""
    body = await read_json(request, here.settings.limits.body_bytes)
    on_conflict = field(body, "onConflict", str, "raise")
    if on_conflict not in {"raise", "rebase"}:
        raise RequestError("body.onConflict", 'must be "raise" or "rebase"')
    history = await log.edit(
        field(body, "patches", list),
        on_conflict=on_conflict,
        strict=field(body, "strict", bool, False),
        keep_pairs=field(body, "keepPairs", bool, False),
        meta=field(body, "meta", dict, None),
    )
    return answer(request, {"head": history.revision_id})


@router.get("/logs/{log}/revisions", responses={200: {"model": models.RevisionPage}})
async def revisions(
    request: Request,
    log: ReadingWhole,
    limit: PageSize,
    before: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """Every revision of the log, newest first, page by page."""
    return await _page(request, log, limit, before, of_lineage=False)


@router.get("/logs/{log}/lineage", responses={200: {"model": models.RevisionPage}})
async def lineage(
    request: Request,
    log: Reading,
    limit: PageSize,
    before: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """The revisions from the branch's head to the root, page by page."""
    return await _page(request, log, limit, before, of_lineage=True)


async def _page(request: Request, log: MessageLog, limit: int, before: str | None, *, of_lineage: bool) -> Response:
    found: list[Revision] = []
    walk = (log.lineage if of_lineage else log.revisions)(limit, before=before)
    async for revision in walk:
        found.append(revision)
        if len(found) == limit:
            break
    await walk.aclose()  # type: ignore[attr-defined]
    end = found[-1].id if len(found) == limit and found[-1].parent is not None else None
    return answer(request, {"revisions": [revision.to_json() for revision in found], "next": end})


@router.get("/logs/{log}/diff", responses={200: {"model": models.Difference}})
async def diff(
    request: Request,
    log: Reading,
    old: Annotated[str, Query(alias="from", description="A revision")],
    new: Annotated[str | None, Query(alias="to", description="Another; without one, the branch's head")] = None,
) -> Response:
    """What changed between two views, and how much of the prompt's beginning is the same: what a cache still covers.

    Runs of messages that stay, go and come, in order; those that stay are only counted. Tokens are estimates.
    """
    before, after = await log.view(old), await log.view(new)

    def compared() -> Response:
        prefix = shared_prefix(before.messages, after.messages)
        runs = [
            {"change": _CHANGES[sign], "count": len(run), "messages": [] if sign == " " else run}
            for sign, run in changed(before.messages, after.messages)
        ]
        told = {
            "from": before.revision,
            "to": after.revision,
            "fromTokens": _tokens(before.messages),
            "toTokens": _tokens(after.messages),
            "stablePrefix": prefix,
            "prefixTokens": _tokens(before.messages[:prefix]),
            "runs": runs,
        }
        return answer(request, told)

    return await asyncio.to_thread(compared)  # which takes long where the views are long


_CHANGES = {" ": "kept", "-": "removed", "+": "added"}


def _tokens(messages: list[StoredMessage]) -> int:
    return estimate_tokens(messages, media=MEDIA_TOKENS)


@router.post("/logs/{log}/restore", responses={200: {"model": models.Messages}}, openapi_extra=examples.RESTORE)
async def restore(request: Request, here: Here, log: Reading) -> Response:
    """The original turns behind the view, or behind given entries: summaries expanded to their sources."""
    body = await read_json(request, here.settings.limits.body_bytes)
    ids = field(body, "entryIds", list, None) if isinstance(body, Mapping) else None
    if ids is not None and not all(isinstance(entry_id, str) for entry_id in ids):
        raise RequestError("body.entryIds", "must be a list of strings")
    return answer(request, {"messages": await log.restore(ids)})
