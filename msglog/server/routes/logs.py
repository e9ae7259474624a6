"""Logs: which there are, what is known of one, taking one away."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from msglog.errors import RequestError
from msglog.server import examples, models
from msglog.server.bodies import answer, field, read_json
from msglog.server.service import Asking, EditingWhole, Here, OwningWhole, PageSize, Reading, ReadingWhole
from msglog.storage.catalog import LogInfo, LogOrder

router = APIRouter(tags=["logs"])


@router.get("/logs", responses={200: {"model": models.LogPage}})
async def list_logs(
    request: Request,
    here: Here,
    caller: Asking,
    limit: PageSize,
    prefix: Annotated[str, Query(description="Only logs whose name begins so")] = "",
    tag: Annotated[str | None, Query(description="Only logs that have the tag")] = None,
    order: Annotated[LogOrder, Query(description="By name, last message, or number of entries")] = "name",
    sizes: Annotated[bool, Query(description="Add the bytes of each, which costs as much as they are long")] = False,
    reverse: Annotated[bool, Query(description="The other way round")] = False,
    cursor: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """The logs that the caller may read, page by page. One that moves meanwhile may come twice or, in reverse, not."""
    caller.check("read")
    logs = await here.store.logs(prefix=prefix, tag=tag, order=order, sizes=sizes)
    places = {info.name: _place(info, order) for info in logs if caller.covers(info.name)}
    shown = sorted((info for info in logs if info.name in places), key=lambda i: places[i.name], reverse=reverse)
    if cursor is not None:
        last = _place_of(cursor)
        shown = [info for info in shown if (places[info.name] < last if reverse else places[info.name] > last)]
    page = shown[:limit]
    return answer(request, {"logs": page, "next": _cursor(places[page[-1].name]) if len(shown) > limit else None})


def _place(info: LogInfo, order: LogOrder) -> tuple[int, str]:
    """Where a log stands in an order. Its name decides between equals, so that pages neither overlap nor skip."""
    if order == "name":
        return 0, info.name
    at = info.last_at or info.created_at
    return info.entries if order == "entries" else (at - _EPOCH) // timedelta(microseconds=1), info.name


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _cursor(place: tuple[int, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def _place_of(cursor: str) -> tuple[int, str]:
    try:
        number, name = json.loads(base64.urlsafe_b64decode(cursor))
        return int(number), str(name)
    except (ValueError, TypeError):
        raise RequestError("query.cursor", "must be `next` of the page before") from None


@router.get("/logs/{log}", responses={200: {"model": models.LogInfo}})
async def describe_log(
    request: Request,
    log: ReadingWhole,
    sizes: Annotated[bool, Query(description="Add its bytes, which costs as much as it is long")] = False,
) -> Response:
    """What is known of a log: its sizes and times, its title, tags and metadata."""
    return answer(request, await log.describe(sizes=sizes))


@router.patch(
    "/logs/{log}",
    responses={200: {"model": models.LogInfo}},
    openapi_extra=examples.body(models.Description, title="The 7:58", tags=["trains"]),
)
async def change_description(request: Request, here: Here, log: EditingWhole) -> Response:
    """Change what is given of a log's title, tags and metadata; null takes away. The rest stays as it is."""
    body = await read_json(request, here.settings.limits.body_bytes)
    if not isinstance(body, Mapping):
        raise RequestError("body", "must be a JSON object")
    kinds: dict[str, type] = {"title": str, "tags": list, "meta": dict}
    given: dict[str, Any] = {
        name: None if body[name] is None else field(body, name, kind) for name, kind in kinds.items() if name in body
    }
    return answer(request, await log.describe(**given))


@router.get("/logs/{log}/position", responses={200: {"model": models.Position}})
async def position(request: Request, log: Reading) -> Response:
    """Where a log and a branch of it end. A log that does not exist yet ends at 0."""
    return answer(request, {"count": await log.count(), "seq": await log.seq(), "head": await log.head()})


@router.delete("/logs/{log}", responses={200: {"model": models.PurgeReceipt}})
async def purge_log(request: Request, here: Here, log: OwningWhole) -> Response:
    """Take a whole log away for good."""
    receipt = await log.store.purge(log.name)
    here.hub.purged(log.name)
    return answer(request, receipt)
