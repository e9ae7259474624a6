"""Following, live: server-sent events, of one log or of all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from msglog.errors import PositionError, RequestError, UnknownLogError
from msglog.log import MessageLog
from msglog.server.bodies import wants_exact
from msglog.server.events import EventStream, Step
from msglog.server.hub import EVERY_LOG, Bell
from msglog.server.service import Asking, Count, Here, Reading, Service, StoreReading
from msglog.wire.text import EVENTS, dumps
from msglog.wire.values import plain

router = APIRouter(tags=["follow"])

PAGE = 100
"""Messages that are read, and sent, at once. A follower holds one page at most."""

LastSeen = Annotated[str | None, Header(description="The `id` of the last event that was seen: resumes after it")]
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Events `message`, each with its seq as `id`", "content": {EVENTS: {}}}
}


@dataclass(frozen=True, slots=True)
class Page:
    """Events that were read together: their text, how many, and where to go on.

    `origin` is when the log began: another one than before tells that it is another log of the same name.
    """

    chunk: bytes
    count: int
    end: int
    origin: datetime | None = None


def _page(items: list[Any], end: Callable[[Any], int], *, exact: bool) -> Page:
    events = [b"id: %d\nevent: message\ndata: %b\n\n" % (end(item), dumps(plain(item), exact=exact)) for item in items]
    return Page(b"".join(events), len(items), end(items[-1]) if items else -1)


async def _origin(log: MessageLog) -> datetime | None:
    try:
        return (await log.describe()).created_at
    except UnknownLogError:
        return None


def _start(last_seen: str | None, after: int) -> int:
    if last_seen is None or not last_seen:
        return after
    if not last_seen.isdecimal() or not last_seen.isascii() or len(last_seen) > 18:
        raise RequestError("header Last-Event-ID", "must be the id of an event of this stream")
    return int(last_seen)


@router.get("/logs/{log}/follow", responses=_STREAM, response_class=Response)
async def follow_log(
    request: Request,
    here: Here,
    caller: Asking,
    log: Reading,
    after: Count = 0,
    whole: Annotated[bool, Query(description="All branches, instead of the branch's lineage")] = False,
    last_event_id: LastSeen = None,
) -> Response:
    """Every message after a seq, once, in order: what is stored, then what comes, as server-sent events.

    The event `end` says that the service stops: connect again, with the last `id`. The event `gone` says that the
    log was purged.
    """
    start, exact = _start(last_event_id, after), wants_exact(request)
    end = await log.seq()
    if start > end:
        raise PositionError(log.name, start, end)
    if not whole:
        await log.count()  # of a branch that is not there, this tells
    read = log.raw.read if whole else log.read

    async def page(at: int, version: int) -> Page:
        async def work() -> Page:
            found = _page(await read(at, PAGE), lambda message: message.seq, exact=exact)
            return replace(found, origin=await _origin(log))

        return await here.hub.share((log.name, None if whole else log.branch, at, version, exact), work)

    return EventStream(here, caller, log.name, lambda bell: _steps(here, bell, page, start))


@router.get("/follow", responses=_STREAM, response_class=Response)
async def follow_store(
    request: Request, here: Here, caller: Asking, store: StoreReading, after: Count = 0, last_event_id: LastSeen = None
) -> Response:
    """Every message of every log after a number `n`, in commit order, as server-sent events whose `id` is `n`."""
    start, exact = _start(last_event_id, after), wants_exact(request)

    async def page(at: int, version: int) -> Page:
        async def work() -> Page:
            return _page(await store.read(at, PAGE), lambda logged: logged.n, exact=exact)

        return await here.hub.share((EVERY_LOG, at, version, exact), work)

    return EventStream(here, caller, EVERY_LOG, lambda bell: _steps(here, bell, page, start))


async def _steps(
    here: Service, bell: Bell, page: Callable[[int, int], Awaitable[Page]], at: int
) -> AsyncIterator[Step]:
    """What a follower is sent, step by step: it is at the end when a step has nothing to send.

    A page is asked for by the bell's version too, since one that was begun before the bell rang may lack what rang it.
    """
    heartbeat = here.settings.limits.heartbeat
    purges, origin = bell.gone, None
    yield Step(b"retry: 1000\n\n")
    while True:
        version = bell.version
        if bell.gone != purges:
            yield Step(_said("gone", "the log was purged"), last=True)
        if here.hub.stopping:
            yield Step(_said("end", "the service stops; connect again with the last id"), last=True)
        found = await page(at, version)
        if at and origin not in {None, found.origin}:
            yield Step(_said("gone", "the log was purged"), last=True)
        origin = found.origin
        if found.count:
            at = found.end
            here.metrics.sent.inc(found.count)
            yield Step(found.chunk)
        while found.count < PAGE and not await bell.wait(version, heartbeat):
            yield Step(b": alive\n\n")  # nothing was committed: there is nothing to read


def _said(event: str, reason: str) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event.encode(), json.dumps({"reason": reason}).encode())
