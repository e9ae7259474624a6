"""What concerns the whole store: sizes, checks, queries, health, metrics."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Query, Request
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.responses import Response

from msglog.errors import MsgLogError, StoppingError
from msglog.server import examples, models
from msglog.server.bodies import answer, field, read_json, refusal
from msglog.server.service import Asking, Count, Here, PageSize, StoreOwning, StoreReading, Unhurried
from msglog.server.tokens import RIGHTS
from msglog.wire.cells import cell_json, cell_of

router = APIRouter(tags=["store"])
health = APIRouter(tags=["health"])


@router.get("/messages", responses={200: {"model": models.LoggedPage}})
async def read_store(request: Request, store: StoreReading, limit: PageSize, after: Count = 0) -> Response:
    """The messages of all logs after a number `n`, in commit order."""
    page = await store.read(after, limit)
    return answer(request, {"messages": page, "next": page[-1].n if page else after})


@router.get("/store", responses={200: {"model": models.About}})
async def about(request: Request, here: Here, caller: Asking) -> Response:
    """The service, and what the caller may do."""
    rights = [right for right in RIGHTS if caller.may(right)]
    told = {"version": version("msglog"), "readOnly": here.store.read_only, "rights": rights, "prefix": caller.prefix}
    return answer(request, told)


@router.get("/stats", responses={200: {"model": models.Stats}})
async def stats(request: Request, store: StoreReading) -> Response:
    """Sizes and counts of the whole store."""
    return answer(request, await store.stats())


@router.post("/verify", dependencies=[Unhurried], responses={200: {"model": models.Report}})
async def verify(
    request: Request, store: StoreOwning, log: Annotated[str | None, Query(description="One log only")] = None
) -> Response:
    """Walk every hash and recompute every view. Takes as long as the log is large."""
    return answer(request, await store.verify(log))


@router.post(
    "/sql",
    responses={200: {"model": models.Rows}},
    openapi_extra=examples.body(
        models.Query, query="SELECT log, entries FROM log_stats WHERE entries > ?", parameters=[100]
    ),
)
async def sql(request: Request, here: Here, store: StoreOwning) -> Response:
    """The rows of one read-only SQL statement."""
    body = await read_json(request, here.settings.limits.body_bytes)
    given = field(body, "parameters", (list, dict), [])
    named = isinstance(given, dict)
    parameters = {k: cell_of(v) for k, v in given.items()} if named else [cell_of(value) for value in given]
    rows = await store.sql(field(body, "query", str), parameters)
    return answer(request, {"rows": [{name: cell_json(value) for name, value in row.items()} for row in rows]})


@health.get("/healthz", responses={200: {"model": models.Health}})
async def healthz(request: Request) -> Response:
    """The process answers."""
    return answer(request, {"status": "ok"})


@health.get("/readyz", responses={200: {"model": models.Health}})
async def readyz(request: Request, here: Here) -> Response:
    """The store can be read, and the service takes work: 503 otherwise."""
    if here.hub.stopping:
        return refusal(StoppingError())
    try:
        await here.store.read(0, 1)
    except MsgLogError as error:
        return refusal(error, 503)
    return answer(request, {"status": "ok"})


@health.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(here: Here, store: StoreOwning) -> Response:
    """Counts for Prometheus. Where tokens are on, it takes one with the right `admin`."""
    now = await store.stats()
    here.metrics.logs.set(now.logs)
    here.metrics.entries.set(now.entries)
    here.metrics.bytes.set(now.bytes)
    here.metrics.wal.set(now.wal_bytes)
    return Response(here.metrics.exposition(), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})
