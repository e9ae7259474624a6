"""Whole logs in and out, as bundles: streams of any length, of which no more than a piece is in memory."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from typing import IO, Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from msglog.errors import TooLargeError
from msglog.server import models
from msglog.server.bodies import PIECE, answer
from msglog.server.service import Asking, Here, StoreOwning, Unhurried
from msglog.transfer import export_bundle, import_bundle

router = APIRouter(tags=["transfer"])

BUNDLE = "application/x-ndjson"


@router.get(
    "/export",
    dependencies=[Unhurried],
    response_class=Response,
    responses={200: {"description": "A bundle: see docs/transfer.md", "content": {BUNDLE: {}}}},
)
async def export(
    here: Here,
    caller: Asking,
    log: Annotated[list[str] | None, Query(description="A log, more than once for several; otherwise all")] = None,
) -> Response:
    """Logs whole, with all branches and revisions, as a bundle. It is complete before its first byte is sent."""
    if log is None:
        caller.check_store("read")
    for name in log or ():
        caller.check("read", name)
    file = await asyncio.to_thread(tempfile.TemporaryFile)
    try:
        await export_bundle(here.store, file, logs=log)
        length = file.tell()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    headers = {"Content-Length": str(length), "Content-Disposition": 'attachment; filename="msglog.jsonl"'}
    return StreamingResponse(_pieces(file), headers=headers, media_type=BUNDLE)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


@router.post(
    "/import",
    dependencies=[Unhurried],
    responses={200: {"model": models.ImportReport}},
    openapi_extra={"requestBody": {"required": True, "content": {BUNDLE: {"schema": {"type": "string"}}}}},
)
async def import_(
    request: Request,
    here: Here,
    store: StoreOwning,
    prefix: Annotated[str, Query(description="Goes before the names of logs that are new")] = "",
    dry_run: Annotated[bool, Query(alias="dryRun", description="Verify everything and store nothing")] = False,
) -> Response:
    """Take the logs of a bundle in. Everything is verified before it is stored; what is there already is left."""
    limit = here.settings.limits.import_bytes
    size = 0
    with tempfile.TemporaryFile() as file:
        async for piece in request.stream():
            size += len(piece)
            if size > limit:
                raise TooLargeError(size, limit, "an import", "Split it by logs")
            await asyncio.to_thread(file.write, piece)
        file.seek(0)
        report = await import_bundle(store, file, prefix=prefix, dry_run=dry_run)
    return answer(request, report)
