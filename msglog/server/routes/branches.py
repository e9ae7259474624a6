"""Branches: listed, forked, rewound."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from msglog.server import examples, models
from msglog.server.bodies import answer, field, read_json
from msglog.server.service import Editing, Here, ReadingWhole

router = APIRouter(tags=["branches"])


@router.get("/logs/{log}/branches", responses={200: {"model": models.Branches}})
async def branches(request: Request, log: ReadingWhole) -> Response:
    """The branches of the log, oldest first; none, where it does not exist yet."""
    return answer(request, {"branches": await log.branches()})


@router.post(
    "/logs/{log}/branches",
    status_code=201,
    responses={201: {"model": models.Head}},
    openapi_extra=examples.body(models.ForkInput, name="what-if"),
)
async def fork(request: Request, here: Here, log: Editing) -> Response:
    """A new branch, at a revision or at the head of the branch `branch`."""
    body = await read_json(request, here.settings.limits.body_bytes)
    made = await log.fork(field(body, "name", str), field(body, "at", str, None))
    return answer(request, {"head": await made.head()}, 201)


@router.post(
    "/logs/{log}/rewind",
    responses={200: {"model": models.Head}},
    openapi_extra=examples.body(models.RewindInput, revision="019acb0e5f1e7a2b"),
)
async def rewind(request: Request, here: Here, log: Editing) -> Response:
    """Show again what a revision showed, as a new revision, whose id is returned. Nothing is lost by it."""
    body = await read_json(request, here.settings.limits.body_bytes)
    head = await log.rewind(
        field(body, "revision", str), field(body, "expectedHead", str, None), meta=field(body, "meta", dict, None)
    )
    return answer(request, {"head": head})
